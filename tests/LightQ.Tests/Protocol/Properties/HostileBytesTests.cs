using System.Buffers;
using FsCheck.Fluent;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Tests.Protocol.Frames;
using Xunit;
using static LightQ.Tests.Protocol.Properties.WireGenerators;

namespace LightQ.Tests.Protocol.Properties;

/// <summary>Whatever bytes arrive, readers throw nothing but <see cref="ProtocolException"/>.</summary>
public sealed class HostileBytesTests
{
    private const int Cases = 10_000;

    // Every case is tried on the bodies of all frames: some twenty readings, most of them refused.
    private const int CasesForEveryBody = 1_500;

    private static FsCheck.Gen<Mutation> Mutations =>
        from seed in Gen.Choose(0, int.MaxValue)
        from changes in Gen.Choose(1, 4)
        from cut in Gen.Frequency((3, Gen.Constant(0)), (1, Gen.Choose(1, 160)))
        select new Mutation(seed, changes, cut);

    [Fact]
    public void Arbitrary_bytes_as_a_frame() => Bytes(64).Check(Cases, ReadFrames);

    [Fact]
    public void Arbitrary_bytes_as_any_body() =>
        Bytes(120)
            .Check(
                CasesForEveryBody,
                bytes =>
                {
                    foreach (FrameBodies.Case body in FrameBodies.ByName.Values)
                        Read(body, bytes);
                }
            );

    [Fact]
    public void Mutated_bodies() =>
        Mutations.Check(
            CasesForEveryBody,
            mutation =>
            {
                foreach (FrameBodies.Case body in FrameBodies.ByName.Values)
                    Read(body, mutation.Of(body.Bytes));
            }
        );

    [Fact]
    public void Arbitrary_bytes_as_a_batch() => Bytes(300).Check(Cases, bytes => HostileReading.Run(bytes));

    [Fact]
    public void Arbitrary_bytes_as_records_and_headers() =>
        (from bytes in Bytes(100) from count in U32 select (bytes, count)).Check(
            Cases,
            input =>
            {
                HostileReading.Records(input.bytes, (int)input.count);
                HostileReading.Headers(input.bytes);
            }
        );

    [Fact]
    public void Mutated_batches() =>
        Mutations.Check(Cases, mutation => HostileReading.Run(mutation.Of(Sample.StampedBatch())));

    [Fact]
    public void Mutated_batches_whose_header_checksum_is_right_again() =>
        Mutations.Check(
            Cases,
            mutation =>
            {
                byte[] batch = mutation.Of(Sample.Batch());
                if (batch.Length >= BatchLayout.HeaderSize)
                    HostileReading.Run(Sample.Resealed(batch));
            }
        );

    private static void Read(FrameBodies.Case body, byte[] bytes)
    {
        try
        {
            body.Read(bytes);
        }
        catch (ProtocolException error)
        {
            Assert.True(
                error.Code is ErrorCode.MalformedFrame or ErrorCode.MalformedBatch or ErrorCode.CorruptData,
                error.Message
            );
        }
    }

    private static void ReadFrames(byte[] bytes)
    {
        ReadOnlySequence<byte> buffer = Segments.Of(bytes, bytes.Length / 3, bytes.Length / 2);
        var reader = new FrameReader();
        try
        {
            while (reader.TryRead(ref buffer, out FrameHeader header, out ReadOnlySpan<byte> body))
                Assert.Equal(header.BodyLength, body.Length);
        }
        catch (ProtocolException error)
        {
            Assert.True(error.Code is ErrorCode.MalformedFrame or ErrorCode.FrameTooLarge, error.Message);
        }
    }

    /// <summary>
    /// Changes a few bytes, with a liking for all ones and for the ends of ranges, and may cut off the end.
    /// </summary>
    private sealed record Mutation(int Seed, int Changes, int Cut)
    {
        public byte[] Of(byte[] valid)
        {
            var random = new Random(Seed);
            byte[] bytes = valid[..Math.Max(0, valid.Length - Cut)];
            for (int i = 0; i < Changes && bytes.Length > 0; i++)
            {
                int at = random.Next(bytes.Length);
                byte value = random.Next(4) switch
                {
                    0 => 0xFF,
                    1 => 0,
                    2 => 0x7F,
                    _ => (byte)random.Next(256),
                };
                bytes.AsSpan(at, Math.Min(random.Next(1, 5), bytes.Length - at)).Fill(value);
            }
            return bytes;
        }
    }
}

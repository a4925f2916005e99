using System.IO.Compression;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using Xunit;

namespace LightQ.Tests.Protocol.Batches;

public sealed class BatchCompressionTests
{
    /// <summary>Four records "hello", compressed by another program.</summary>
    private const string GoldenBrotli = "1b3300f88f9354e1feae01fed10a265bd95b18150d1c43f118",
        GoldenDeflate = "63656060f8ff9f8121233527279f95380e00";

    private static readonly byte[] Hellos =
    [
        .. Enumerable.Repeat<byte[]>([5, 0, 0, 0, 0xff, 0xff, 0, 0, .. "hello"u8], 4).SelectMany(b => b),
    ];

    [Theory]
    [InlineData(BatchCodec.Brotli, GoldenBrotli)]
    [InlineData(BatchCodec.Deflate, GoldenDeflate)]
    public void Golden_bytes_inflate_with_and_without_padding(BatchCodec codec, string golden)
    {
        byte[] payload = Hex.Bytes(golden);
        for (int padding = 0; padding < 300; padding++)
        {
            byte[] records = new byte[Hellos.Length];
            Assert.True(BatchCompression.TryInflate(codec, [.. payload, .. new byte[padding]], records));
            Assert.Equal(Hellos, records);
        }
    }

    [Theory]
    [InlineData(BatchCodec.Brotli, GoldenBrotli)]
    [InlineData(BatchCodec.Deflate, GoldenDeflate)]
    public void A_payload_cut_at_any_byte_or_of_another_length_does_not_inflate(BatchCodec codec, string golden)
    {
        byte[] payload = Hex.Bytes(golden);
        // The last byte of Deflate's holds nothing but the end of its last block.
        for (int cut = 0; cut < payload.Length - 1; cut++)
        {
            Assert.False(
                BatchCompression.TryInflate(codec, payload.AsSpan(0, cut), new byte[Hellos.Length]),
                $"cut at {cut}"
            );
        }

        foreach (int length in (int[])[0, 1, Hellos.Length - 1, Hellos.Length + 1, 2 * Hellos.Length])
            Assert.False(BatchCompression.TryInflate(codec, payload, new byte[length]), $"{length} bytes");
    }

    [Theory]
    [InlineData(BatchCodec.Brotli)]
    [InlineData(BatchCodec.Deflate)]
    public void Flipped_bits_never_throw_and_never_write_behind_the_records(BatchCodec codec)
    {
        byte[] payload = new byte[8192];
        Assert.True(
            BatchCompression.TryCompress(codec, CompressionLevel.Optimal, Text(20_000), payload, out int length)
        );
        byte[] records = new byte[20_000 + 64];
        for (int bit = 0; bit < length * 8; bit += 3) // Each of a byte's bits, in one byte or the next.
        {
            payload[bit / 8] ^= (byte)(1 << (bit % 8));
            _ = BatchCompression.TryInflate(codec, payload.AsSpan(0, length), records.AsSpan(0, 20_000));
            Assert.True(records.AsSpan(20_000).IndexOfAnyExcept((byte)0) < 0);
            payload[bit / 8] ^= (byte)(1 << (bit % 8));
        }
    }

    [Theory]
    [InlineData(BatchCodec.Brotli, CompressionLevel.Fastest)]
    [InlineData(BatchCodec.Brotli, CompressionLevel.Optimal)]
    [InlineData(BatchCodec.Brotli, CompressionLevel.SmallestSize)]
    [InlineData(BatchCodec.Deflate, CompressionLevel.Fastest)]
    [InlineData(BatchCodec.Deflate, CompressionLevel.SmallestSize)]
    public void What_was_compressed_inflates_to_itself(BatchCodec codec, CompressionLevel level)
    {
        foreach (int size in (int[])[8, 100, 1024, 65_536, 300_000])
        {
            byte[] records = Text(size),
                payload = new byte[size + 64],
                back = new byte[size];
            Assert.True(BatchCompression.TryCompress(codec, level, records, payload, out int length));
            Assert.True(BatchValidator.IsInflatable(length, size));
            Assert.True(BatchCompression.TryInflate(codec, payload.AsSpan(0, length), back));
            Assert.Equal(records, back);
        }
    }

    [Theory]
    [InlineData(BatchCodec.Brotli)]
    [InlineData(BatchCodec.Deflate)]
    public void What_compresses_too_well_is_padded_to_the_ratio(BatchCodec codec)
    {
        byte[] records = new byte[1_000_000],
            payload = new byte[100_000];
        payload.AsSpan().Fill(0xEE);
        Assert.True(
            BatchCompression.TryCompress(codec, CompressionLevel.SmallestSize, records, payload, out int length)
        );
        Assert.Equal((records.Length + 255) / 256, length);
        Assert.Equal(0, payload[length - 1]);
        Assert.Equal(0xEE, payload[length]);
        Assert.True(BatchCompression.TryInflate(codec, payload.AsSpan(0, length), records));
    }

    [Theory]
    [InlineData(BatchCodec.Brotli)]
    [InlineData(BatchCodec.Deflate)]
    public void What_does_not_fit_is_not_compressed(BatchCodec codec)
    {
        byte[] random = new byte[10_000];
        new Random(1).NextBytes(random);
        Assert.False(
            BatchCompression.TryCompress(codec, CompressionLevel.Fastest, random, new byte[random.Length - 8], out _)
        );
        Assert.False(
            BatchCompression.TryCompress(
                codec,
                CompressionLevel.Fastest,
                new byte[ProtocolLimits.InflatedBatchBytes + 1],
                new byte[1_000_000],
                out _
            )
        );
    }

    private static byte[] Text(int length)
    {
        var random = new Random(length);
        byte[] text = new byte[length];
        for (int i = 0; i < length; i++)
            text[i] = (byte)('a' + random.Next(4));
        return text;
    }
}

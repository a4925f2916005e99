using System.Buffers;
using System.Buffers.Binary;
using BenchmarkDotNet.Attributes;
using LightQ.Protocol.Frames;

namespace LightQ.Benchmarks.Protocol;

/// <summary>Frames as a session meets them: small typed ones and acks.</summary>
[BenchmarkCategory("protocol")]
public class FrameBenchmarks
{
    private readonly byte[] _buffer = new byte[1024];
    private readonly FrameReader _reader = new();
    private readonly AckRange[] _ranges = [new(1, 64, 0, 1000), new(65, 64, 0, 1064)];
    private byte[] _credit = [];
    private byte[] _ack = [];
    private byte[] _large = [];

    [GlobalSetup]
    public void Setup()
    {
        _credit = new byte[20];
        FrameCodec.Write(_credit, new CreditFrame(4096), 1);
        _ack = new byte[PublishAckFrame.SizeOf(2)];
        _large = new byte[64 * 1024];
        new FrameHeader(_large.Length, FrameType.Publish, 0, 1, 0).Write(_large);
        _reader.MaxFrameBytes = _large.Length;
        PublishAckFrame.Write(_ack, 1, LightQ.Client.Durability.Fsync, _ranges);
    }

    /// <summary>What nobody can do without: the frame's five words, written and read.</summary>
    [Benchmark(Baseline = true, Description = "five words")]
    public uint FiveWords()
    {
        Span<byte> words = _buffer.AsSpan(0, 20);
        BinaryPrimitives.WriteUInt32LittleEndian(words, 20);
        BinaryPrimitives.WriteUInt32LittleEndian(words[4..], 1);
        BinaryPrimitives.WriteUInt32LittleEndian(words[8..], 2);
        BinaryPrimitives.WriteUInt32LittleEndian(words[12..], 3);
        BinaryPrimitives.WriteUInt32LittleEndian(words[16..], 4096);
        return BinaryPrimitives.ReadUInt32LittleEndian(words)
            + BinaryPrimitives.ReadUInt32LittleEndian(words[4..])
            + BinaryPrimitives.ReadUInt32LittleEndian(words[8..])
            + BinaryPrimitives.ReadUInt32LittleEndian(words[12..])
            + BinaryPrimitives.ReadUInt32LittleEndian(words[16..]);
    }

    [Benchmark(Description = "encode Credit")]
    [TimeBudget(3)]
    public int EncodeCredit() => FrameCodec.Write(_buffer, new CreditFrame(4096), 1);

    [Benchmark(Description = "parse Credit")]
    [TimeBudget(12)]
    public uint ParseCredit()
    {
        var buffer = new ReadOnlySequence<byte>(_credit);
        return _reader.TryRead(ref buffer, out _, out ReadOnlySpan<byte> body)
            ? FrameCodec.Read<CreditFrame>(body).Bytes
            : 0;
    }

    [Benchmark(Description = "encode PublishAck, 2 ranges")]
    [TimeBudget(8)]
    public int EncodePublishAck() => PublishAckFrame.Write(_buffer, 1, LightQ.Client.Durability.Fsync, _ranges);

    [Benchmark(Description = "read a frame of 64 KiB in place")]
    [TimeBudget(12)]
    public int ReadLargeFrame()
    {
        var buffer = new ReadOnlySequence<byte>(_large);
        return _reader.TryRead(ref buffer, out _, out ReadOnlySpan<byte> body) ? body.Length : 0;
    }

    [Benchmark(Description = "encode the head of a group's delivery")]
    [TimeBudget(8)]
    public int EncodeGroupDelivery() =>
        GroupDeliverFrame.WriteHead(_buffer, 1, new GroupDelivery(4096, 100, 7, 1, 30_000), 4096);

    [Benchmark(Description = "parse PublishAck, 2 ranges")]
    [TimeBudget(20)]
    public long ParsePublishAck()
    {
        var buffer = new ReadOnlySequence<byte>(_ack);
        if (!_reader.TryRead(ref buffer, out _, out ReadOnlySpan<byte> body))
            return 0;
        var ack = new PublishAckFrame(body);
        long sum = 0;
        for (int i = 0; i < ack.Count; i++)
            sum += ack[i].BaseOffset;
        return sum;
    }
}

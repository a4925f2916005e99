using System.Buffers;
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

    [GlobalSetup]
    public void Setup()
    {
        _credit = new byte[20];
        FrameCodec.Write(_credit, new CreditFrame(4096), 1);
        _ack = new byte[PublishAckFrame.SizeOf(2)];
        PublishAckFrame.Write(_ack, 1, LightQ.Protocol.Durability.Fsync, _ranges);
    }

    [Benchmark(Description = "encode Credit")]
    public int EncodeCredit() => FrameCodec.Write(_buffer, new CreditFrame(4096), 1);

    [Benchmark(Description = "parse Credit")]
    public uint ParseCredit()
    {
        var buffer = new ReadOnlySequence<byte>(_credit);
        return _reader.TryRead(ref buffer, out _, out ReadOnlySpan<byte> body) ? FrameCodec.Read<CreditFrame>(body).Bytes : 0;
    }

    [Benchmark(Description = "encode PublishAck, 2 ranges")]
    public int EncodePublishAck() => PublishAckFrame.Write(_buffer, 1, LightQ.Protocol.Durability.Fsync, _ranges);

    [Benchmark(Description = "parse PublishAck, 2 ranges")]
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

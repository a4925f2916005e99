using BenchmarkDotNet.Attributes;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Checksums;
using LightQ.Protocol.Records;

namespace LightQ.Benchmarks.Protocol;

/// <summary>
/// A batch of 64 KiB through its life: built by the producer, checked and stamped by the broker, read by the consumer.
/// </summary>
[BenchmarkCategory("protocol")]
public class BatchBenchmarks
{
    private const int BatchBytes = 64 * 1024;
    private readonly byte[] _batch = new byte[BatchBytes + BatchLayout.Alignment];
    private byte[] _body = [];
    private byte[] _fresh = [];
    private byte[] _scratch = [];

    [Params(100, 1024)]
    public int RecordBytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _body = new byte[RecordBytes];
        new Random(1).NextBytes(_body);
        _fresh = _batch[..Build()];
        _scratch = [.. _fresh];
    }

    /// <summary>What nobody can do without: the bytes' checksum.</summary>
    [Benchmark(Baseline = true, Description = "checksum")]
    public uint Checksum() => Crc32C.Compute(_fresh);

    [Benchmark(Description = "build and complete")]
    [TimeBudget(4)]
    public int Build()
    {
        Span<byte> batch = _batch;
        int at = BatchLayout.HeaderSize,
            count = 0,
            size = RecordWriter.SizeOf(_body.Length);
        for (; at + size <= BatchBytes; count++)
            at += RecordWriter.Write(batch[at..], _body);
        return BatchWriter.Complete(batch, at - BatchLayout.HeaderSize, count, new BatchOrigin(1, 1, 1), 1);
    }

    [Benchmark(Description = "build, without checksums")]
    [TimeBudget(3)]
    public int WriteRecords()
    {
        Span<byte> batch = _batch;
        int at = BatchLayout.HeaderSize,
            size = RecordWriter.SizeOf(_body.Length);
        while (at + size <= BatchBytes)
            at += RecordWriter.Write(batch[at..], _body);
        return at;
    }

    // The header is put back first, so that every run checks what a producer sent.
    [Benchmark(Description = "validate and stamp")]
    [TimeBudget(1.5)]
    public uint ValidateAndStamp()
    {
        _fresh.AsSpan(0, BatchLayout.HeaderSize).CopyTo(_scratch);
        return
            BatchValidator.CheckPublished(_scratch, BatchBytes, out BatchView view, out _) == ErrorCode.None
            && view.VerifyPayload()
            ? BatchWriter.Stamp(_scratch, new BatchStamp(1000, 2, 3, 4, 5))
            : throw new InvalidOperationException("The batch was refused.");
    }

    [Benchmark(Description = "enumerate records")]
    [TimeBudget(2)]
    public long EnumerateRecords()
    {
        long sum = 0;
        foreach (RecordView record in new BatchView(_fresh).Records)
            sum += record.Body.Length + record.Offset;
        return sum;
    }

    [Benchmark(Description = "verify payload and enumerate")]
    [TimeBudget(3)]
    public long VerifyAndEnumerate() => new BatchView(_fresh).VerifyPayload() ? EnumerateRecords() : 0;
}

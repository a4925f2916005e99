using BenchmarkDotNet.Attributes;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using LightQ.Storage.Segments;

namespace LightQ.Benchmarks.Protocol;

/// <summary>
/// Small batches, one message each: where a run of them is split, and where each is checked and stamped.
/// </summary>
[BenchmarkCategory("protocol")]
public class SmallBatchBenchmarks
{
    private const int Batches = 64;
    private const int BodyBytes = 100;
    private byte[] _run = [];
    private LogKey _key;
    private byte[] _scratch = [];

    [GlobalSetup]
    public void Setup()
    {
        byte[] batch = new byte[BatchLayout.Align(BatchLayout.HeaderSize + RecordWriter.SizeOf(BodyBytes))];
        RecordWriter.Write(batch.AsSpan(BatchLayout.HeaderSize), new byte[BodyBytes]);
        BatchWriter.Complete(batch, RecordWriter.SizeOf(BodyBytes), 1, new BatchOrigin(1, 1, 1), 1);
        _run = [.. Enumerable.Repeat(batch, Batches).SelectMany(b => b)];
        _scratch = new byte[_run.Length];
        _key = LogKey.Create();
    }

    /// <summary>What nobody can do without: the run is copied into the log.</summary>
    [Benchmark(Baseline = true, Description = "copy", OperationsPerInvoke = Batches)]
    public void Copy() => _run.CopyTo(_scratch, 0);

    [Benchmark(Description = "split a run", OperationsPerInvoke = Batches)]
    [TimeBudget(6)]
    public int Split()
    {
        int records = 0;
        foreach (BatchView batch in new BatchRun(_run))
            records += batch.RecordCount;
        return records;
    }

    /// <summary>The code of each batch's place, which only a journal's batches have.</summary>
    [Benchmark(Description = "sign", OperationsPerInvoke = Batches)]
    [TimeBudget(20)]
    public ulong Sign()
    {
        ulong codes = 0;
        for (int i = 0; i < Batches; i++)
            codes ^= _key.Sign(1, i * 208, 208, new BatchStamp(i, 2, 3, 4, 5)).Mac;
        return codes;
    }

    [Benchmark(Description = "validate, copy and stamp", OperationsPerInvoke = Batches)]
    [TimeBudget(60)]
    public uint ValidateAndStamp()
    {
        uint crc = 0;
        int at = 0;
        foreach (BatchView batch in new BatchRun(_run))
        {
            ReadOnlySpan<byte> bytes = _run.AsSpan(at, batch.Length);
            if (
                BatchValidator.CheckPublished(bytes, bytes.Length, out BatchView view, out _) != ErrorCode.None
                || !view.VerifyPayload()
            )
            {
                throw new InvalidOperationException("The batch was refused.");
            }

            bytes.CopyTo(_scratch.AsSpan(at));
            crc = BatchWriter.Stamp(_scratch.AsSpan(at, bytes.Length), new BatchStamp(at, 2, 3, crc, 5));
            at += bytes.Length;
        }
        return crc;
    }
}

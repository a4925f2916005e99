using BenchmarkDotNet.Attributes;
using LightQ.Broker.Deduplication;
using LightQ.Broker.Producers;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Benchmarks.Broker;

/// <summary>What idempotence costs a batch: is it the one expected next, or one that was sent again?</summary>
[BenchmarkCategory("broker")]
public class ProducerBenchmarks
{
    private const int Batches = 1000;
    private readonly ProducerState _state = new(1, 1);
    private readonly byte[][] _batches = new byte[Batches][];
    private ulong _next;

    [GlobalSetup]
    public void Setup()
    {
        for (int i = 0; i < Batches; i++)
        {
            byte[] batch = _batches[i] = new byte[BatchLayout.Align(BatchLayout.HeaderSize + RecordWriter.SizeOf(0))];
            RecordWriter.Write(batch.AsSpan(BatchLayout.HeaderSize), []);
            BatchWriter.Complete(batch, RecordWriter.SizeOf(0), 1, new BatchOrigin(1, 1, (ulong)i), 1);
        }
    }

    /// <summary>What nobody can do without: the header's fields.</summary>
    [Benchmark(Baseline = true, Description = "read the fields", OperationsPerInvoke = Batches)]
    public ulong ReadFields()
    {
        ulong sum = 0;
        foreach (byte[] bytes in _batches)
        {
            var batch = new BatchView(bytes);
            sum += batch.BaseSequence + batch.ProducerEpoch + (uint)batch.RecordCount;
        }
        return sum;
    }

    [Benchmark(Description = "check and remember", OperationsPerInvoke = Batches)]
    [TimeBudget(8)]
    public long CheckAndRemember()
    {
        foreach (byte[] bytes in _batches)
        {
            BitConverter.TryWriteBytes(bytes.AsSpan(BatchLayout.BaseSequence), _next);
            var batch = new BatchView(bytes);
            if (_state.Check(batch, out StoredBatch known) != ErrorCode.None || known.IsAny)
                throw new InvalidOperationException("The batch was refused.");
            _state.Remember(ProducerState.Remembered.Of(batch, (long)_next++), 1);
        }
        return _state.LastAppend;
    }

    [Benchmark(Description = "recognise a duplicate", OperationsPerInvoke = Batches)]
    [TimeBudget(30)]
    public long RecogniseDuplicate()
    {
        long sum = 0;
        if (_next == 0)
            CheckAndRemember();
        BitConverter.TryWriteBytes(_batches[0].AsSpan(BatchLayout.BaseSequence), _next - 16);
        for (int i = 0; i < Batches; i++)
        {
            if (_state.Check(new BatchView(_batches[0]), out StoredBatch known) != ErrorCode.None || !known.IsAny)
                throw new InvalidOperationException("The duplicate was not recognised.");
            sum += known.Offset;
        }
        return sum;
    }
}

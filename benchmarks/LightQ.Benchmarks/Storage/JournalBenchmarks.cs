using BenchmarkDotNet.Attributes;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using LightQ.Storage;

namespace LightQ.Benchmarks.Storage;

/// <summary>Appending to a journal until everything is on the disk, rolls and retention included. Per operation is per batch.</summary>
[MemoryDiagnoser]
public class JournalBenchmarks : IJournalListener, IDisposable
{
    private const int Batches = 4096;

    private readonly object _lock = new();
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-bench-").FullName;
    private JournalEnvironment? _environment;
    private Journal? _journal;
    private byte[] _small = [];
    private byte[] _large = [];

    /// <summary>Opens the journal.</summary>
    [GlobalSetup]
    public void Open()
    {
        _environment = new JournalEnvironment();
        _journal = Journal.Open(
            new JournalOptions { Directory = _directory, TopicId = Guid.NewGuid(), MaxBatchBytes = 128 * 1024, RetentionBytes = 256 * 1024 * 1024, Listener = this },
            _environment);
        _small = MakeBatch(512);
        _large = MakeBatch(64 * 1024);
        AppendUntilDurable(_large); // To full-grown segments: a young journal rolls often, and a roll allocates.
    }

    /// <summary>Batches of one message of 512 bytes.</summary>
    [Benchmark(OperationsPerInvoke = Batches)]
    [BenchmarkCategory("journal")]
    public long Append512B() => AppendUntilDurable(_small);

    /// <summary>Batches of 64 KiB. A thousand of them fill a segment, and a new segment allocates its index and its descriptor.</summary>
    [Benchmark(OperationsPerInvoke = Batches)]
    [BenchmarkCategory("journal", "allocates")]
    public long Append64KiB() => AppendUntilDurable(_large);

    /// <summary>Closes the journal.</summary>
    [GlobalCleanup]
    public void Dispose()
    {
        _journal?.CloseAsync().GetAwaiter().GetResult();
        _environment?.Dispose();
        if (Directory.Exists(_directory))
            Directory.Delete(_directory, recursive: true);
        GC.SuppressFinalize(this);
    }

    void IJournalListener.OnProgress(Journal journal)
    {
        lock (_lock)
            Monitor.PulseAll(_lock);
    }

    void IJournalListener.OnFailed(Journal journal) => ((IJournalListener)this).OnProgress(journal);

    void IJournalListener.OnDamaged(Journal journal, JournalDamage damage) => throw new InvalidOperationException(damage.ToString());

    private static byte[] MakeBatch(int bodyBytes)
    {
        byte[] batch = new byte[BatchLayout.HeaderSize + bodyBytes + RecordLayout.FixedSize + BatchLayout.Alignment];
        int records = RecordWriter.Write(batch.AsSpan(BatchLayout.HeaderSize), new byte[bodyBytes]);
        return batch[..BatchWriter.Complete(batch, records, 1, default, 1)];
    }

    private long AppendUntilDurable(byte[] batch)
    {
        Journal journal = _journal!;
        long position = 0;
        for (int i = 0; i < Batches; i++)
        {
            AppendResult result;
            long end;
            while ((result = journal.TryAppend(batch, out _, out end)) == AppendResult.Full)
            {
                journal.Signal();
                WaitForProgress();
            }
            if (result != AppendResult.Appended)
                throw new InvalidOperationException($"The journal says {result}.");
            position = end;
            journal.Signal();
        }
        while (journal.DurablePosition < position)
            WaitForProgress();
        return position;
    }

    private void WaitForProgress()
    {
        lock (_lock)
            Monitor.Wait(_lock, 1);
    }
}

using BenchmarkDotNet.Attributes;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using LightQ.Storage;

namespace LightQ.Benchmarks.Storage;

/// <summary>
/// Appending to a journal until everything is on the disk, rolls and retention included, against the same bytes in a
/// plain file. Per operation is per batch.
/// </summary>
[BenchmarkCategory("journal")]
public abstract class JournalBenchmarks(int bodyBytes) : IJournalListener, IDisposable
{
    protected const int Batches = 4096;

    /// <summary>
    /// The journal's usual bytes between two syncs, and how much of the plain file is written over and over.
    /// </summary>
    private const int CommitBytes = 4 * 1024 * 1024,
        PlainBytes = 64 * 1024 * 1024;

    private readonly object _lock = new();
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-bench-").FullName;
    private JournalEnvironment? _environment;
    private Journal? _journal;
    private FileStream? _plain;
    private byte[] _batch = [];
    private byte[] _commit = [];

    /// <summary>Opens the journal.</summary>
    [GlobalSetup]
    public void Open()
    {
        _environment = new JournalEnvironment();
        _journal = Journal.Open(
            new JournalOptions
            {
                Directory = _directory,
                TopicId = Guid.NewGuid(),
                MaxBatchBytes = 128 * 1024,
                RetentionBytes = 256 * 1024 * 1024,
            },
            _environment,
            listener: this
        );
        _batch = MakeBatch(64 * 1024);
        AppendUntilDurable(); // To full-grown segments: a young journal rolls often, and a roll allocates.
        _batch = MakeBatch(bodyBytes);
        _commit = new byte[CommitBytes];
        _plain = new FileStream(
            Path.Combine(_directory, "plain"),
            FileMode.Create,
            FileAccess.Write,
            FileShare.None,
            bufferSize: 0
        );
        for (int at = 0; at < PlainBytes; at += CommitBytes)
            _plain.Write(_commit);
        _plain.Flush(flushToDisk: true);
    }

    /// <summary>What nobody can do without: the bytes, and a sync whenever a commit is full.</summary>
    [Benchmark(Baseline = true, Description = "plain file", OperationsPerInvoke = Batches)]
    public long PlainFile()
    {
        long left = (long)Batches * _batch.Length;
        for (long at = 0; left > 0; at += CommitBytes)
        {
            int bytes = (int)Math.Min(left, CommitBytes);
            RandomAccess.Write(_plain!.SafeFileHandle, _commit.AsSpan(0, bytes), at % PlainBytes);
            RandomAccess.FlushToDisk(_plain.SafeFileHandle);
            left -= bytes;
        }
        return left;
    }

    /// <summary>Closes the journal.</summary>
    [GlobalCleanup]
    public void Dispose()
    {
        _journal?.CloseAsync().GetAwaiter().GetResult();
        _environment?.Dispose();
        _plain?.Dispose();
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

    void IJournalListener.OnRested(Journal journal)
    {
        // The next iteration appends again.
    }

    void IJournalListener.OnDamaged(Journal journal, JournalDamage damage) =>
        throw new InvalidOperationException(damage.ToString());

    protected long AppendUntilDurable()
    {
        Journal journal = _journal!;
        byte[] batch = _batch;
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

    private static byte[] MakeBatch(int bodyBytes)
    {
        byte[] batch = new byte[BatchLayout.HeaderSize + bodyBytes + RecordLayout.FixedSize + BatchLayout.Alignment];
        int records = RecordWriter.Write(batch.AsSpan(BatchLayout.HeaderSize), new byte[bodyBytes]);
        return batch[..BatchWriter.Complete(batch, records, 1, default, 1)];
    }

    private void WaitForProgress()
    {
        lock (_lock)
            Monitor.Wait(_lock, 1);
    }
}

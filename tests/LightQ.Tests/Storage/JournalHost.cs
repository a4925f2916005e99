using LightQ.Protocol.Batches;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage;

/// <summary>A temporary directory with one journal, which can be closed, killed and opened again.</summary>
internal sealed class JournalHost : IJournalListener, IAsyncDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);
    private readonly object _lock = new();
    private readonly string _root = Directory.CreateTempSubdirectory("lightq-journal-").FullName;
    private readonly JournalEnvironment _environment;
    private Journal? _journal;

    public JournalHost(
        Func<JournalOptions, JournalOptions>? shape = null,
        JournalEnvironmentOptions? environment = null
    )
    {
        Files = new FaultyFileSystem(PlatformFileSystem.Choose());
        EnvironmentOptions = (
            environment
            ?? new JournalEnvironmentOptions
            {
                Writers = 1,
                Readers = 1,
                CheckpointInterval = TimeSpan.FromHours(1),
            }
        ) with
        {
            TimeProvider = Clock,
        };
        _environment = new JournalEnvironment(EnvironmentOptions, Files);
        var options = new JournalOptions
        {
            Directory = Path.Combine(_root, "log"),
            TopicId = new Guid("00112233-4455-6677-8899-aabbccddeeff"),
            RingBytes = 64 * 1024,
            SegmentBytes = 16 * 1024,
            MaxBatchBytes = 8 * 1024,
        };
        Options = shape is null ? options : shape(options);
    }

    public ManualClock Clock { get; } = new();

    public FaultyFileSystem Files { get; }

    /// <summary>What the journal told of damage.</summary>
    public List<JournalDamage> Damage { get; } = [];

    /// <summary>Files that the disk refused and that the journal went on without.</summary>
    public System.Collections.Concurrent.ConcurrentQueue<string> Refused { get; } = new();

    public JournalEnvironmentOptions EnvironmentOptions { get; }

    public JournalOptions Options { get; set; }

    public JournalEnvironment Environment => _environment;

    public Journal Journal => _journal ?? throw new InvalidOperationException("The journal is not open.");

    public Journal Open(IRecoveredBatchVisitor? visitor = null) =>
        _journal = Journal.Open(Options, _environment, visitor, this);

    /// <summary>Appends a batch, waiting for room when the ring is full.</summary>
    public long Append(int number, int bodyBytes = 100, int records = 1, ulong producerId = 0)
    {
        byte[] batch = TestBatch.Make(number, bodyBytes, records, producerId);
        long offset = -1;
        AppendResult result = AppendResult.Full;
        Wait(() => (result = Journal.TryAppend(batch, out offset, out _)) != AppendResult.Full);
        Assert.Equal(AppendResult.Appended, result);
        Journal.Signal();
        return offset;
    }

    public void AppendDurable(int first, int count, int bodyBytes = 100, int records = 1)
    {
        for (int i = 0; i < count; i++)
            Append(first + i, bodyBytes, records);
        WaitDurable();
    }

    public void WaitDurable() => Wait(() => Journal.DurableOffset == Journal.EndOffset);

    /// <summary>Waits for a condition that progress or a reader makes true.</summary>
    public void Wait(Func<bool> condition)
    {
        long deadline = System.Environment.TickCount64 + (long)Limit.TotalMilliseconds;
        lock (_lock)
        {
            while (!condition())
            {
                Assert.True(System.Environment.TickCount64 < deadline, "The condition did not become true in time.");
                Monitor.Wait(_lock, 5);
            }
        }
    }

    public void Wake()
    {
        lock (_lock)
            Monitor.PulseAll(_lock);
    }

    public void OnProgress(Journal journal) => Wake();

    public void OnFailed(Journal journal) => Wake();

    public void OnRested(Journal journal) => journal.TryReleaseMemory();

    public void OnDamaged(Journal journal, JournalDamage damage)
    {
        lock (_lock)
            Damage.Add(damage);
        Wake();
    }

    public void OnRefused(Journal journal, string file, Exception error) => Refused.Enqueue(file);

    public async Task CloseAsync()
    {
        if (_journal is { } journal)
            await journal.CloseAsync();
        _journal = null;
    }

    /// <summary>As kill -9: what the process had written is there, nothing else happens.</summary>
    public async Task KillAsync()
    {
        await Journal.AbandonAsync();
        _journal = null;
    }

    public void RunHousekeeping() => _environment.Housekeeping.RunOnce();

    public JournalReader Reader(long offset = 0)
    {
        var reader = new JournalReader(Journal, Wake);
        reader.SeekToOffset(offset);
        return reader;
    }

    /// <summary>Reads until the end and gives the batches' numbers; offsets must be dense.</summary>
    public List<int> ReadAll(long offset = 0, int maxBytes = 4096)
    {
        using JournalReader reader = Reader(offset);
        return ReadOn(reader, maxBytes);
    }

    /// <summary>As <see cref="ReadAll"/>, of another journal.</summary>
    public List<int> Numbers(Journal journal, long offset)
    {
        using var reader = new JournalReader(journal, Wake);
        reader.SeekToOffset(offset);
        return ReadOn(reader);
    }

    public List<int> ReadOn(JournalReader reader, int maxBytes = 4096)
    {
        var numbers = new List<int>();
        while (Next(reader, maxBytes, out LogRun run) is var result && result != ReadResult.AtEnd)
        {
            Assert.Equal(ReadResult.Run, result);
            long expected = run.FirstOffset;
            foreach (BatchView batch in new BatchRun(run.Span))
            {
                Assert.Equal(expected, batch.BaseOffset);
                expected = batch.NextOffset;
                numbers.Add(TestBatch.NumberOf(batch));
            }
            Assert.Equal(expected, run.NextOffset);
            reader.Advance();
        }
        return numbers;
    }

    /// <summary>Reads once, waiting while the answer is Pending.</summary>
    public ReadResult Next(JournalReader reader, int maxBytes, out LogRun run)
    {
        LogRun found = default;
        ReadResult result = ReadResult.Pending;
        Wait(() => (result = reader.TryRead(maxBytes, out found)) != ReadResult.Pending);
        run = found;
        return result;
    }

    public string PathOf(string name) => Path.Combine(Options.Directory, name);

    public string[] FileNames(string pattern) =>
        [.. Directory.GetFiles(Options.Directory, pattern).Select(path => Path.GetFileName(path)!).Order()];

    public async ValueTask DisposeAsync()
    {
        Files.Before = (_, _) => { };
        if (_journal is not null)
            await _journal.AbandonAsync();
        _environment.Dispose();
        Directory.Delete(_root, recursive: true);
    }
}

using LightQ.Scheduling;
using LightQ.Storage.Files;
using LightQ.Storage.Reading;
using LightQ.Storage.Scrubbing;
using LightQ.Storage.Segments;

namespace LightQ.Storage;

/// <summary>
/// What the journals of one broker share: writer, reader, supply and housekeeping threads, and the file system.
/// </summary>
/// <remarks>Dispose it after the journals that were opened with it.</remarks>
public sealed class JournalEnvironment : IDisposable
{
    private readonly WorkerThreads<ILogHost>[] _writers;
    private int _nextWriter = -1;
    private readonly SyncHistogram _syncDurations = new();
    private long _committedBytes;
    private long _syncs;
    private long _syncTicks;

    /// <summary>Starts the threads.</summary>
    public JournalEnvironment(JournalEnvironmentOptions? options = null)
        : this(options ?? new JournalEnvironmentOptions(), PlatformFileSystem.Choose()) { }

    internal JournalEnvironment(JournalEnvironmentOptions options, IFileSystem files)
    {
        Clock = SteadyClock.Over(options.TimeProvider);
        Options = options = options with { TimeProvider = Clock };
        Files = files;
        _writers = new WorkerThreads<ILogHost>[options.Writers];
        for (int i = 0; i < _writers.Length; i++)
            _writers[i] = new([$"lightq-journal-{i}"], static journal => journal.RunWriter());
        Disk = new CatchUpThreads(options);
        Supply = new SupplyThread();
        Housekeeping = new HousekeepingThread(
            options.TimeProvider,
            options.HousekeepingInterval,
            "lightq-housekeeping"
        );
        Scrubber = new Scrubber(options);
    }

    /// <summary>The settings.</summary>
    public JournalEnvironmentOptions Options { get; }

    /// <summary>How often the journals have synced their files.</summary>
    public long Syncs => Volatile.Read(ref _syncs);

    /// <summary>How long these syncs took together.</summary>
    public TimeSpan SyncTime => new(Volatile.Read(ref _syncTicks));

    /// <summary>How many of them took how long.</summary>
    public SyncDurations SyncDurations => _syncDurations.Read();

    /// <summary>Bytes that were read again to find damage, of all journals together.</summary>
    public long ScrubbedBytes => Scrubber.Bytes;

    /// <summary>Complete passes of that over everything.</summary>
    public long ScrubPasses => Scrubber.Passes;

    internal IFileSystem Files { get; }

    internal SteadyClock Clock { get; }

    internal CatchUpThreads Disk { get; }

    internal SupplyThread Supply { get; }

    internal HousekeepingThread Housekeeping { get; }

    internal Scrubber Scrubber { get; }

    /// <summary>Bytes that all journals have written: tells whether the disk is busy.</summary>
    internal long CommittedBytes => Volatile.Read(ref _committedBytes);

    /// <summary>Bytes that can still be allocated where a directory lies.</summary>
    public long FreeBytes(string directory) => Files.FreeBytes(directory);

    /// <summary>
    /// Has something looked after by the housekeeping thread, which may block on the disk: within a time, or earlier
    /// when that is due already.
    /// </summary>
    public void RequestHousekeeping(IHousekept task, TimeSpan within) => Housekeeping.Request(task, within);

    /// <summary>Forgets something; it may be looked after once more, if that is under way.</summary>
    public void EndHousekeeping(IHousekept task) => Housekeeping.Remove(task);

    /// <summary>Stops the threads.</summary>
    public void Dispose()
    {
        Scrubber.Dispose();
        Housekeeping.Dispose();
        foreach (WorkerThreads<ILogHost> writer in _writers)
            writer.Dispose();
        Supply.Dispose();
        Disk.Dispose();
    }

    internal void CountCommitted(long bytes) => Interlocked.Add(ref _committedBytes, bytes);

    internal void CountSync(TimeSpan duration)
    {
        Interlocked.Increment(ref _syncs);
        Interlocked.Add(ref _syncTicks, duration.Ticks);
        _syncDurations.Add(duration);
    }

    /// <summary>The writer thread for one more journal: in turn, so that they are spread evenly.</summary>
    internal WorkerThreads<ILogHost> NextWriter() =>
        _writers[(uint)Interlocked.Increment(ref _nextWriter) % (uint)_writers.Length];
}

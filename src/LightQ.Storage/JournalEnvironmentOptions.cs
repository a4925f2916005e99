namespace LightQ.Storage;

/// <summary>Threads and budgets that all journals of a broker share.</summary>
public sealed record JournalEnvironmentOptions
{
    private readonly int _writers = 8;
    private readonly int _readers = 2;
    private readonly int _readBufferBytes = 256 * 1024;
    private readonly long _readBudgetBytes = 64 * 1024 * 1024;
    private readonly long _tailBytes = 64 * 1024 * 1024;
    private readonly TimeSpan _housekeepingInterval = TimeSpan.FromMilliseconds(250);
    private readonly int _scrubBytesPerSecond = 8 * 1024 * 1024;
    private readonly TimeSpan _scrubInterval = TimeSpan.FromDays(7);
    private readonly TimeSpan _checkpointInterval = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Journal writer threads; journals are spread over them. Syncs of different files overlap, so more than cores is
    /// right. Default 8.
    /// </summary>
    public int Writers
    {
        get => _writers;
        init => _writers = InRange(value, 1, 256, nameof(Writers));
    }

    /// <summary>Threads that read old data from the disk. Default 2.</summary>
    public int Readers
    {
        get => _readers;
        init => _readers = InRange(value, 1, 256, nameof(Readers));
    }

    /// <summary>Bytes of one read from the disk. Default 256 KiB.</summary>
    public int ReadBufferBytes
    {
        get => _readBufferBytes;
        init => _readBufferBytes = InRange(value, 4096, 64 * 1024 * 1024, nameof(ReadBufferBytes));
    }

    /// <summary>Most bytes of read buffers at a time; readers beyond wait their turn. Default 64 MiB.</summary>
    public long ReadBudgetBytes
    {
        get => _readBudgetBytes;
        init =>
            _readBudgetBytes =
                value > 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(value), value, "ReadBudgetBytes is positive.");
    }

    /// <summary>
    /// How far behind the end readers are served from the mapping, because those pages are still in memory. Default 64
    /// MiB.
    /// </summary>
    public long TailBytes
    {
        get => _tailBytes;
        init =>
            _tailBytes =
                value >= 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(value), value, "TailBytes is not negative.");
    }

    /// <summary>
    /// How exact retention, checkpoints and the closing of unused files are, and how often background flushes and a
    /// full disk are looked at. Default 250 ms.
    /// </summary>
    public TimeSpan HousekeepingInterval
    {
        get => _housekeepingInterval;
        init => _housekeepingInterval = Positive(value, nameof(HousekeepingInterval));
    }

    /// <summary>
    /// How often a busy journal's checkpoint is written: bounds what a start after a crash scans. Default 10 s.
    /// </summary>
    public TimeSpan CheckpointInterval
    {
        get => _checkpointInterval;
        init => _checkpointInterval = Positive(value, nameof(CheckpointInterval));
    }

    /// <summary>
    /// Bytes that are read again per second to find damage early, of all journals together; 0 for none. Default 8 MiB.
    /// </summary>
    public int ScrubBytesPerSecond
    {
        get => _scrubBytesPerSecond;
        init => _scrubBytesPerSecond = InRange(value, 0, int.MaxValue, nameof(ScrubBytesPerSecond));
    }

    /// <summary>
    /// From the beginning of one pass over everything to that of the next; longer when the rate makes it so. Default 7
    /// days.
    /// </summary>
    public TimeSpan ScrubInterval
    {
        get => _scrubInterval;
        init => _scrubInterval = Positive(value, nameof(ScrubInterval));
    }

    /// <summary>The clock of append times, retention, housekeeping and scrubbing.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    private static int InRange(int value, int least, int most, string name) =>
        value >= least && value <= most
            ? value
            : throw new ArgumentOutOfRangeException(name, value, $"{name} is from {least} to {most}.");

    private static TimeSpan Positive(TimeSpan value, string name) =>
        value > TimeSpan.Zero ? value : throw new ArgumentOutOfRangeException(name, value, $"{name} is positive.");
}

namespace LightQ.Storage.Spilling;

/// <summary>Bounds of what is spilled.</summary>
public sealed record SpillOptions
{
    /// <summary>Most bytes of one queue. Default 1 GiB.</summary>
    public long MaxQueueBytes
    {
        get;
        init =>
            field =
                value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(MaxQueueBytes), value, "1 or more");
    } = 1L << 30;

    /// <summary>Most bytes of all queues together. Default 4 GiB.</summary>
    public long MaxBytes
    {
        get;
        init => field = value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(MaxBytes), value, "1 or more");
    } = 4L << 30;

    /// <summary>Most bytes in memory: what the disk has not taken yet. Default 64 MiB.</summary>
    public long MaxMemoryBytes
    {
        get;
        init =>
            field =
                value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(MaxMemoryBytes), value, "1 or more");
    } = 64L << 20;

    /// <summary>
    /// Whether an owner has its share of <see cref="MaxBytes"/>, given its number, what it has, what all have, and what
    /// it wants. Must not block. By default none has a share.
    /// </summary>
    public Func<uint, long, long, long, bool> IsShareUsedUp { get; init; } = static (_, _, _, _) => false;

    /// <summary>Called with the reason when a queue cannot be kept. Must not block, and must not throw.</summary>
    public Action<Exception> OnFailed { get; init; } = static _ => { };

    /// <summary>
    /// From what length on a file is followed by the next; a file is removed when all of it was read. Default 16 MiB.
    /// </summary>
    internal long FileBytes { get; init; } = 16L << 20;

    /// <summary>
    /// What the disk must keep free for topics: no file is begun with less. Default 128 MiB, as much as two of their
    /// segments.
    /// </summary>
    internal long MinFreeBytes { get; init; } = 128L << 20;
}

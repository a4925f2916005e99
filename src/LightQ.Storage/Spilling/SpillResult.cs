namespace LightQ.Storage.Spilling;

/// <summary>What became of a run that was to be spilled.</summary>
public enum SpillResult
{
    /// <summary>It is kept.</summary>
    Kept,

    /// <summary>The queue holds as much as it may.</summary>
    QueueFull,

    /// <summary>All queues together hold as much as they may.</summary>
    StoreFull,

    /// <summary>All queues of the same owner hold as much as they may.</summary>
    ShareFull,

    /// <summary>The memory for what the disk has not taken is full: runs come faster than it writes.</summary>
    DiskBehind,

    /// <summary>The queue has failed or was disposed.</summary>
    Ended,
}

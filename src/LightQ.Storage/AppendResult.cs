namespace LightQ.Storage;

/// <summary>What became of a batch that was handed to a <see cref="Journal"/>.</summary>
public enum AppendResult
{
    /// <summary>It is in the ring, with its offsets.</summary>
    Appended,

    /// <summary>The ring is full until the writer has written more; the listener is called then.</summary>
    Full,

    /// <summary>The disk is full: nothing is appended until space returns. Reads and removals go on.</summary>
    DiskFull,

    /// <summary>
    /// The journal failed or is closed; <see cref="Journal.Failure"/> says why. Only opening it again clears that.
    /// </summary>
    Failed,
}

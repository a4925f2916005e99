namespace LightQ.Broker.Logs;

/// <summary>What became of an append.</summary>
public enum LogAppend
{
    /// <summary>The batch is in the log.</summary>
    Appended,

    /// <summary>There is no room now; readers or the disk must go on first.</summary>
    Full,

    /// <summary>The disk is full.</summary>
    DiskFull,

    /// <summary>The log has failed; only a restart clears it.</summary>
    Failed,
}

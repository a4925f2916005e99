namespace LightQ.Protocol.Frames;

/// <summary>Where a subscription begins.</summary>
public enum StartKind : byte
{
    /// <summary>The oldest message the log holds.</summary>
    Earliest = 0,

    /// <summary>Behind the newest message: only what comes from now on.</summary>
    Latest = 1,

    /// <summary>At an offset; an older one than the log holds gives a Gap first.</summary>
    Offset = 2,

    /// <summary>At the first batch appended at or after a time.</summary>
    Timestamp = 3,

    /// <summary>Where the group left off; for a group without a position, the oldest message.</summary>
    Committed = 4,
}

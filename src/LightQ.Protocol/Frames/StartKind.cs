namespace LightQ.Protocol.Frames;

/// <summary>Where a subscription begins.</summary>
public enum StartKind : byte
{
    /// <summary>At the oldest message that the log holds.</summary>
    Earliest = 0,

    /// <summary>After the newest message: only messages that are published from now on.</summary>
    Latest = 1,

    /// <summary>At an offset; if it is older than the log's oldest message, a Gap comes first.</summary>
    Offset = 2,

    /// <summary>At the first batch appended at or after a time.</summary>
    Timestamp = 3,

    /// <summary>At the group's position; for a group without a position, at the oldest message.</summary>
    Committed = 4,
}

namespace LightQ.Client;

/// <summary>Why offsets do not come.</summary>
public enum GapReason : byte
{
    /// <summary>The subscriber was too slow and its policy is to drop.</summary>
    Dropped = 1,

    /// <summary>The log no longer holds them.</summary>
    Retention = 2,

    /// <summary>
    /// The client had seen them, and they are no longer what they were: an unclean stop cut them, or the topic was made
    /// anew. Their offsets come again from the first on.
    /// </summary>
    Truncated = 3,

    /// <summary>Their stored bytes fail the checksum.</summary>
    Corrupt = 4,

    /// <summary>Their time to live was over before the consumer got to them.</summary>
    Expired = 5,
}

using LightQ.Protocol.Frames;

namespace LightQ.Client;

/// <summary>
/// Where a subscription begins. The default value is <see cref="Latest"/> without a group and <see cref="Committed"/>
/// with one.
/// </summary>
public readonly record struct StartPosition
{
    private StartPosition(StartKind kind, long value = 0)
    {
        Kind = kind;
        Value = value;
    }

    /// <summary>At the oldest message that the topic holds.</summary>
    public static StartPosition Earliest => new(StartKind.Earliest);

    /// <summary>After the newest message: only what is published from now on.</summary>
    public static StartPosition Latest => new(StartKind.Latest);

    /// <summary>
    /// At the group's position; for a group without a position, at the oldest message. Needs a group.
    /// </summary>
    public static StartPosition Committed => new(StartKind.Committed);

    internal StartKind? Kind { get; }

    internal long Value { get; }

    /// <summary>
    /// At an offset of one partition: on a topic with several, the caller must choose one. If the partition no longer
    /// holds the offset, a gap comes first.
    /// </summary>
    /// <param name="offset">0 or more.</param>
    public static StartPosition Offset(long offset)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        return new StartPosition(StartKind.Offset, offset);
    }

    /// <summary>At the first batch that the broker appended at or after a time, by the broker's clock.</summary>
    /// <param name="time">The time; kept to the microsecond.</param>
    public static StartPosition Time(DateTimeOffset time) =>
        new(StartKind.Timestamp, (time.UtcTicks - DateTime.UnixEpoch.Ticks) / TimeSpan.TicksPerMicrosecond);
}

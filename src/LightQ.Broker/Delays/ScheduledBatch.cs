namespace LightQ.Broker.Delays;

/// <summary>A delayed batch that waits to be due.</summary>
/// <param name="First">Where it was published.</param>
/// <param name="Offset">Where it, or its newest copy, lies.</param>
/// <param name="DueAt">When it is due, unix microseconds.</param>
/// <param name="Messages">How many messages it was published with.</param>
/// <param name="Cancelled">
/// Those that are cancelled, by the offsets at which they were published; null for none.
/// </param>
public readonly record struct ScheduledBatch(
    long First,
    long Offset,
    long DueAt,
    int Messages,
    IReadOnlySet<long>? Cancelled
)
{
    /// <summary>Whether a message of it is still to be delivered.</summary>
    /// <param name="message">The offset at which it was published.</param>
    public bool Awaits(long message) => Cancelled is null || !Cancelled.Contains(message);
}

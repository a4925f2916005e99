namespace LightQ.Client;

/// <summary>What a subscription does when messages are missing.</summary>
public enum GapAction
{
    /// <summary>
    /// Reports the gap (<see cref="ConsumeOptions.OnGap"/>, <see cref="LightQClient.GapDetected"/>, the log) and goes
    /// on behind it.
    /// </summary>
    Continue = 0,

    /// <summary>
    /// Reports it the same way and then ends the enumeration with a <see cref="LightQException"/> whose code says why:
    /// SlowConsumer (dropped), OffsetOutOfRange (retention), StaleEpoch (truncated by an unclean stop), CorruptData.
    /// Messages that have expired do not end it. A partition of several that the broker does not serve ends it, too,
    /// with the broker's reason.
    /// </summary>
    Throw = 1,
}

namespace LightQ.Client;

/// <summary>What a subscription does when messages are missing.</summary>
public enum GapAction
{
    /// <summary>
    /// Reports the gap (<see cref="ConsumeOptions.OnGap"/>, <see cref="LightQClient.GapDetected"/>, the log) and goes
    /// on after it.
    /// </summary>
    Continue = 0,

    /// <summary>
    /// Reports the gap the same way, and then ends the enumeration with a <see cref="LightQException"/> whose code
    /// names the reason: SlowConsumer (dropped), OffsetOutOfRange (retention), StaleEpoch (truncated by an unclean
    /// stop), CorruptData. Expired messages do not end the enumeration. If the broker does not serve one of several
    /// partitions, the enumeration ends too, with the broker's reason.
    /// </summary>
    Throw = 1,
}

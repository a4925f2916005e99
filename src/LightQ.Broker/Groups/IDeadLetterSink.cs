namespace LightQ.Broker.Groups;

/// <summary>Takes messages that are dead-lettered.</summary>
internal interface IDeadLetterSink
{
    /// <summary>
    /// Takes messages of one batch; returns at once. <see cref="ExplicitGroup.DeadLettered"/> follows when they are
    /// safe.
    /// </summary>
    /// <param name="group">The group that dead-letters them.</param>
    /// <param name="range">Which.</param>
    /// <param name="reason">Why.</param>
    void Send(ExplicitGroup group, RedeliveryRange range, string reason);
}

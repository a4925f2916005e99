namespace LightQ.Broker.Groups;

/// <summary>Where messages go that are given up.</summary>
internal interface IDeadLetterSink
{
    /// <summary>
    /// Takes messages of one batch; returns at once. <see cref="ExplicitGroup.DeadLettered"/> follows when they are
    /// safe.
    /// </summary>
    /// <param name="group">Whose they are.</param>
    /// <param name="range">Which.</param>
    /// <param name="reason">Why.</param>
    void Send(ExplicitGroup group, RedeliveryRange range, string reason);
}

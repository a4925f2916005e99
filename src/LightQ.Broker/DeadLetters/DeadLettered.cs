namespace LightQ.Broker.DeadLetters;

/// <summary>Messages that have become dead letters together.</summary>
/// <param name="First">The offset of the first.</param>
/// <param name="Count">How many.</param>
/// <param name="Deliveries">How often they were delivered.</param>
/// <param name="Reason">Why.</param>
public readonly record struct DeadLettered(long First, int Count, int Deliveries, string Reason);

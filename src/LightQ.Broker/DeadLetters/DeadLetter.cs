using LightQ.Broker.Groups;

namespace LightQ.Broker.DeadLetters;

/// <summary>Messages that are given up.</summary>
/// <param name="Group">Whose they are.</param>
/// <param name="Range">Which.</param>
/// <param name="Reason">Why.</param>
internal readonly record struct DeadLetter(ExplicitGroup Group, Redelivery Range, string Reason);

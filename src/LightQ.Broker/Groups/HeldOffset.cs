namespace LightQ.Broker.Groups;

/// <summary>A message that a member holds.</summary>
/// <param name="Offset">Its offset.</param>
/// <param name="Connection">The member's connection.</param>
public readonly record struct HeldOffset(long Offset, uint Connection);

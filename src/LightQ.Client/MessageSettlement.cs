namespace LightQ.Client;

/// <summary>What was said of a message that <see cref="Message.Create"/> has made.</summary>
/// <param name="Kind">What became of it.</param>
/// <param name="Offset">The message's offset.</param>
/// <param name="Delay">How long an abandoned message stays away, 1 ms at least; null as the topic says.</param>
/// <param name="Reason">Why it was abandoned or given up; empty for none.</param>
public readonly record struct MessageSettlement(SettleKind Kind, long Offset, TimeSpan? Delay, string Reason);

namespace LightQ.Client;

/// <summary>How a handler settled a message that <see cref="Message.Create"/> created.</summary>
/// <param name="Kind">How the message was settled.</param>
/// <param name="Offset">The message's offset.</param>
/// <param name="Delay">
/// Time until an abandoned message is redelivered, at least 1 ms; null for the topic's retry delay.
/// </param>
/// <param name="Reason">Why the message was abandoned or dead-lettered; empty for none.</param>
public readonly record struct MessageSettlement(SettleKind Kind, long Offset, TimeSpan? Delay, string Reason);

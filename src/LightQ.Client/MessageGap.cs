namespace LightQ.Client;

/// <summary>Messages that a subscription will not get.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="FirstOffset">Offset of the first missing message.</param>
/// <param name="LastOffset">
/// Offset of the last one. Equal to <paramref name="FirstOffset"/> when a damaged batch does not show which offsets it
/// covered.
/// </param>
/// <param name="Reason">Why they are missing.</param>
/// <param name="Partition">The partition of these messages.</param>
public sealed record MessageGap(string Topic, long FirstOffset, long LastOffset, GapReason Reason, int Partition = 0);

namespace LightQ.Client;

/// <summary>Messages that a subscription will not get.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="FirstOffset">Offset of the first missing message.</param>
/// <param name="LastOffset">
/// Offset of the last one. When a damaged batch does not even say what it covered, equal to
/// <paramref name="FirstOffset"/>.
/// </param>
/// <param name="Reason">Why they are missing.</param>
/// <param name="Partition">The partition they are of.</param>
public sealed record MessageGap(string Topic, long FirstOffset, long LastOffset, GapReason Reason, int Partition = 0);

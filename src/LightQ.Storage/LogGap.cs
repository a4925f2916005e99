namespace LightQ.Storage;

/// <summary>Offsets that a reader will not get.</summary>
/// <param name="FirstOffset">The first of them.</param>
/// <param name="LastOffset">The last of them.</param>
/// <param name="Reason">Why.</param>
public readonly record struct LogGap(long FirstOffset, long LastOffset, GapReason Reason);

using LightQ.Protocol.Frames;

namespace LightQ.Broker.Logs;

/// <summary>Offsets that will not come.</summary>
/// <param name="First">The first of them.</param>
/// <param name="Last">The last of them.</param>
/// <param name="Reason">Why.</param>
public readonly record struct LogGap(long First, long Last, GapReason Reason);

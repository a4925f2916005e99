namespace LightQ.Client.Connections;

/// <summary>What a broker that does not lead a partition has said of its leader.</summary>
/// <param name="Address">The leader's <c>host:port</c>; null when nothing usable was said.</param>
/// <param name="Newest">The newest epoch of the partition that was seen.</param>
/// <param name="Turn">How often the stream was sent elsewhere since it was open last, this time included.</param>
internal readonly record struct LeaderHint(string? Address, uint Newest, int Turn);

namespace LightQ.Cli.Clusters;

/// <summary>
/// How often a fault was done, and for how long a producer got no ack from the fault until the next one.
/// </summary>
internal sealed record FaultView(string Fault, int Times, double MedianSilenceMs, double LongestSilenceMs);

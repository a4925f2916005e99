namespace LightQ.Bench.InProcess;

/// <summary>What the producer's end is to send.</summary>
/// <param name="Messages">How many, numbered from 0.</param>
/// <param name="Rate">How many a second; infinity for as fast as they go.</param>
internal readonly record struct SendPlan(long Messages, double Rate);

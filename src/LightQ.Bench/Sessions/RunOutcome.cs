using System.Diagnostics;
using LightQ.Bench.Figures;
using LightQ.Bench.Roles;

namespace LightQ.Bench.Sessions;

/// <summary>What one run gave.</summary>
internal sealed record RunOutcome
{
    public double MessagesPerSecond { get; init; }

    public required RoleMessage Consumed { get; init; }

    public LatencyRun? LatencyRun => Consumed.LatencyRun;

    public LatencyFigures? Latency => Consumed.LatencyUs;

    /// <summary>CPU seconds of the broker during the run; 0 when it is not a child of this process.</summary>
    public double BrokerCpuSeconds { get; init; }

    public long Faults => Consumed.Lost + Consumed.Duplicated + Consumed.Reordered + Consumed.Damaged;

    /// <summary>
    /// From before the consumer subscribes to what is there already until it has received the last message.
    /// </summary>
    public static RunOutcome OfBacklog(RoleMessage consumed) =>
        new()
        {
            Consumed = consumed,
            MessagesPerSecond =
                (consumed.Messages - consumed.Duplicated)
                / Stopwatch.GetElapsedTime(consumed.StartTicks, consumed.EndTicks).TotalSeconds,
        };

    /// <summary>From before the first message until the last one was received and acknowledged.</summary>
    public static RunOutcome Of(RoleMessage produced, RoleMessage consumed)
    {
        TimeSpan elapsed = Stopwatch.GetElapsedTime(
            produced.StartTicks,
            Math.Max(produced.EndTicks, consumed.EndTicks)
        );
        return new RunOutcome
        {
            Consumed = consumed,
            MessagesPerSecond = (consumed.Messages - consumed.Duplicated) / elapsed.TotalSeconds,
        };
    }
}

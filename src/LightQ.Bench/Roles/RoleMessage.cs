using LightQ.Bench.Checks;
using LightQ.Bench.Figures;

namespace LightQ.Bench.Roles;

/// <summary>What a role tells its parent, one line each.</summary>
internal sealed record RoleMessage
{
    public RoleEvent Event { get; init; }

    /// <summary>Why the run failed; with <see cref="RoleEvent.Failed"/>.</summary>
    public string? Error { get; init; }

    /// <summary>Ports that the role listens on; with <see cref="RoleEvent.Listening"/>.</summary>
    public IReadOnlyList<int>? Ports { get; init; }

    /// <summary>Monotonic clock before the run's first message; of a consumer, before it subscribes.</summary>
    public long StartTicks { get; init; }

    /// <summary>Monotonic clock at the run's last message, or behind its ack.</summary>
    public long EndTicks { get; init; }

    public long Messages { get; init; }

    public long Lost { get; init; }

    public long Duplicated { get; init; }

    public long Reordered { get; init; }

    public long Damaged { get; init; }

    public LatencyFigures? LatencyUs { get; init; }

    /// <summary>More of a latency run, when both ends can measure a round trip.</summary>
    public LatencyRun? LatencyRun { get; init; }

    /// <summary>Messages a second that a latency run really sent.</summary>
    public double? ActualRate { get; init; }

    /// <summary>Whether the thread that consumed stays on its CPU, in an in-process bench.</summary>
    public bool IsPinned { get; init; }

    /// <summary>The account of a run.</summary>
    /// <param name="check">What came.</param>
    /// <param name="sent">How many messages were sent.</param>
    public static RoleMessage Of(DeliveryCheck check, long sent) =>
        new()
        {
            Event = RoleEvent.Done,
            EndTicks = check.LastTicks,
            Messages = check.Taken,
            Lost = check.Ledger.Lost(sent),
            Duplicated = check.Ledger.Duplicated,
            Reordered = check.Ledger.Reordered,
            Damaged = check.Damaged,
        };
}

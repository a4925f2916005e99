using LightQ.Broker;
using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Server.Limits;

namespace LightQ.Server.Web;

/// <summary>The groups' part of the metrics page: what <c>lightq group show</c> tells, of so many groups as a page may have.</summary>
internal sealed class GroupMetrics
{
    private static readonly (string Name, string Help, bool IsCounter, Func<GroupSummary, double?> Value)[] Families =
    [
        ("lightq_group_lag_messages", "Messages that a group has not settled, with members and without, those that members hold included.", false, g => g.Lag),
        ("lightq_group_oldest_unsettled_seconds", "Since when the oldest of them waits; 0 with none, absent where it could not be read.", false, g => g.OldestUnsettled?.TotalSeconds),
        ("lightq_group_in_flight_messages", "Messages that members of a group hold.", false, g => g.InFlight),
        ("lightq_group_members", "Clients that are members of a group; each counts once, however many partitions it reads.", false, g => g.Clients.Count),
        ("lightq_group_delivered_total", "Messages that members of a group were given, each time counted.", true, g => g.Counts.Delivered),
        ("lightq_group_redelivered_total", "Those of them that a member had been given before.", true, g => g.Counts.Redelivered),
        ("lightq_group_dead_lettered_total", "Messages that a group gave up and that are in the dead-letter topic.", true, g => g.Counts.DeadLettered),
        ("lightq_group_paused", "1 for a group that is paused.", false, g => g.IsPaused ? 1 : 0),
    ];

    private readonly IReadOnlyList<GroupSummary> _shown;
    private readonly int _leftOut;

    private GroupMetrics(IReadOnlyList<GroupSummary> shown, int leftOut) => (_shown, _leftOut) = (shown, leftOut);

    /// <summary>Reads the groups of topics, as many as <c>Http:MaxMetricsGroups</c> says.</summary>
    public static async Task<GroupMetrics> ReadAsync(LightQBroker broker, IReadOnlyList<Topic> topics, ServerLimits limits, CancellationToken cancellationToken)
    {
        IReadOnlyList<(Topic Topic, string Group)> names = broker.Groups.NamesOf(topics);
        int most = limits.Http.MaxMetricsGroups, leftOut = Math.Max(0, names.Count - most);
        if (leftOut > 0)
            limits.OnGroupsLeftOut(names.Count);
        return new GroupMetrics(await broker.Groups.ReadAsync(names.Take(most), cancellationToken).ConfigureAwait(false), leftOut);
    }

    /// <summary>Writes them.</summary>
    public void Write(PrometheusWriter writer)
    {
        writer.Gauge("lightq_groups", "Groups, those without members included.").Sample(_shown.Count + _leftOut);
        writer.Gauge("lightq_groups_left_out", "Groups that this page does not show, because Http:MaxMetricsGroups is smaller.").Sample(_leftOut);
        foreach ((string name, string help, bool isCounter, Func<GroupSummary, double?> value) in Families)
        {
            _ = isCounter ? writer.Counter(name, help) : writer.Gauge(name, help);
            foreach (GroupSummary group in _shown)
            {
                if (value(group) is { } known)
                    writer.Sample(known, "topic", group.Topic.Name, "group", group.Name);
            }
        }
    }
}

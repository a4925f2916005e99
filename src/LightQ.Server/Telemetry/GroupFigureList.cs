using LightQ.Broker.Groups;

namespace LightQ.Server.Telemetry;

/// <summary>
/// The figures of groups: what <c>lightq group show</c> reports, for as many groups as a reading may have.
/// </summary>
internal static class GroupFigureList
{
    private const string Messages = "{message}";

    /// <summary>All of them.</summary>
    public static IReadOnlyList<Figure> All { get; } =
    [
        new(
            "lightq.groups",
            FigureKind.UpDownCounter,
            "{group}",
            "Groups, those without members included.",
            r => Figures.One(r.Groups.Count + r.GroupsLeftOut)
        ),
        new(
            "lightq.groups_left_out",
            FigureKind.Gauge,
            "{group}",
            "Groups that are not shown, because Http:MaxMetricsGroups is smaller.",
            r => Figures.One(r.GroupsLeftOut)
        ),
        Each(
            "lag_messages",
            FigureKind.UpDownCounter,
            Messages,
            "Messages that a group has not settled, with members and without, those that members hold included.",
            g => g.Lag
        ),
        Each(
            "oldest_unsettled",
            FigureKind.Gauge,
            "s",
            "Since when the oldest of them waits; 0 with none, absent where it could not be read.",
            g => g.OldestUnsettled?.TotalSeconds
        ),
        Each(
            "in_flight_messages",
            FigureKind.UpDownCounter,
            Messages,
            "Messages that members of a group hold.",
            g => g.InFlight
        ),
        Each(
            "members",
            FigureKind.UpDownCounter,
            "{member}",
            "Clients that are members of a group; each counts once, however many partitions it reads.",
            g => g.Clients.Count
        ),
        Each(
            "delivered",
            FigureKind.Counter,
            Messages,
            "Messages that members of a group were given, each time counted.",
            g => g.Counts.Delivered
        ),
        Each(
            "redelivered",
            FigureKind.Counter,
            Messages,
            "Those of them that a member had got before.",
            g => g.Counts.Redelivered
        ),
        Each(
            "dead_lettered",
            FigureKind.Counter,
            Messages,
            "Messages that a group dead-lettered and that are in the dead-letter topic.",
            g => g.Counts.DeadLettered
        ),
        Each("paused", FigureKind.Gauge, "", "1 for a group that is paused.", g => g.IsPaused ? 1 : 0),
    ];

    private static Figure Each(
        string name,
        FigureKind kind,
        string unit,
        string help,
        Func<GroupSummary, double?> value
    ) =>
        new(
            "lightq.group." + name,
            kind,
            unit,
            help,
            r =>
                from g in r.Groups
                let known = value(g)
                where known is not null
                select new FigureSample(known.Value, g.Topic.Name, g.Name),
            "topic",
            "group"
        );
}

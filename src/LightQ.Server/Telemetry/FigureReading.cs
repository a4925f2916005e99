using LightQ.Broker;
using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Server.Connections;
using LightQ.Server.Limits;
using LightQ.Server.Tls;

namespace LightQ.Server.Telemetry;

/// <summary>Where figures come from.</summary>
internal sealed record FigureSource(
    LightQBroker Broker,
    ConnectionListener Listener,
    ServerLimits Limits,
    Readiness Readiness,
    Degradation Degradation,
    ServerTls? Tls
);

/// <summary>What all figures of one moment are read from, so that each topic and group is looked at once.</summary>
internal sealed class FigureReading
{
    private FigureReading(
        FigureSource source,
        IReadOnlyList<Topic> visible,
        Func<string, bool> sees,
        bool seesUsers,
        IReadOnlyList<GroupSummary> groups,
        int groupsLeftOut
    )
    {
        (Source, Sees, SeesUsers, Groups, GroupsLeftOut) = (source, sees, seesUsers, groups, groupsLeftOut);
        Topics = [.. visible.Select(t => (t, TopicFigures.Of(t)))];
    }

    /// <summary>Where everything else is.</summary>
    public FigureSource Source { get; }

    /// <summary>The topics that are reported, by name.</summary>
    public IReadOnlyList<(Topic Topic, TopicFigures Figures)> Topics { get; }

    /// <summary>The partitions of those that have several.</summary>
    public IEnumerable<Partition> Partitions =>
        Topics.Where(t => t.Topic.Partitions.Length > 1).SelectMany(t => t.Topic.Partitions);

    /// <summary>Whether the caller may know of a topic.</summary>
    public Func<string, bool> Sees { get; }

    /// <summary>Whether the caller may know of users.</summary>
    public bool SeesUsers { get; }

    /// <summary>The topics' groups, as many as <c>Http:MaxMetricsGroups</c> says.</summary>
    public IReadOnlyList<GroupSummary> Groups { get; }

    /// <summary>How many are left out.</summary>
    public int GroupsLeftOut { get; }

    /// <summary>Reads. Takes a second or so at most, which is how long the age of what waits for groups is looked
    /// up.</summary>
    /// <param name="source">Where from.</param>
    /// <param name="sees">Whether the caller may know of a topic.</param>
    /// <param name="seesUsers">Whether the caller may know of users.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public static async Task<FigureReading> TakeAsync(
        FigureSource source,
        Func<string, bool> sees,
        bool seesUsers,
        CancellationToken cancellationToken
    )
    {
        source.Tls?.LookForChanges();
        LightQBroker broker = source.Broker;
        Topic[] visible = [.. broker.Topics.Where(t => sees(t.Name)).OrderBy(t => t.Name, StringComparer.Ordinal)];
        IReadOnlyList<(Topic Topic, string Group)> names = broker.Groups.NamesOf(visible);
        int most = source.Limits.Http.MaxMetricsGroups,
            leftOut = Math.Max(0, names.Count - most);
        if (leftOut > 0)
            source.Limits.OnGroupsLeftOut(names.Count);
        IReadOnlyList<GroupSummary> groups = await broker
            .Groups.ReadAsync(names.Take(most), cancellationToken)
            .ConfigureAwait(false);
        return new FigureReading(source, visible, sees, seesUsers, groups, leftOut);
    }
}

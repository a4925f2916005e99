using LightQ.Broker.Topics;

namespace LightQ.Broker.Groups;

/// <summary>
/// A group over its partitions, as it is at a moment: what lists, descriptions and metrics tell of it.
/// </summary>
public sealed record GroupSummary
{
    private GroupSummary(Topic topic, string name, IReadOnlyList<Group> groups)
    {
        (Topic, Name) = (topic, name);
        SettleMode = groups[0].SettleMode;
        IsPaused = groups.Any(g => g.IsPaused);
        Partitions = [.. groups.Select(g => g.Figures())];
        foreach (GroupFigures figures in Partitions)
        {
            Lag += figures.Lag;
            InFlight += figures.InFlight;
            Members += figures.Members.Count;
            Counts = Counts.Plus(figures.Counts);
        }
        Clients = [.. Partitions.SelectMany(p => p.Members).Select(m => m.Connection).Distinct().Order()];
    }

    /// <summary>The topic.</summary>
    public Topic Topic { get; }

    /// <summary>The group's name.</summary>
    public string Name { get; }

    /// <summary>Who settles: the broker, or the members.</summary>
    public SettleMode SettleMode { get; }

    /// <summary>Whether its members get nothing until it is resumed.</summary>
    public bool IsPaused { get; }

    /// <summary>Messages that are held and not settled, those that members hold included.</summary>
    public long Lag { get; }

    /// <summary>Messages that members hold.</summary>
    public long InFlight { get; }

    /// <summary>Members: subscriptions, of which a client has one on each partition that it reads.</summary>
    public int Members { get; }

    /// <summary>The connections that have members, in order.</summary>
    public IReadOnlyList<uint> Clients { get; }

    /// <summary>Counts since the broker started.</summary>
    public GroupCounts Counts { get; }

    /// <summary>
    /// How long ago the oldest message was appended that is not settled; zero when all are, null when that could not be
    /// read in time.
    /// </summary>
    public TimeSpan? OldestUnsettled { get; private init; }

    /// <summary>The group on each partition that it was used on.</summary>
    public IReadOnlyList<GroupFigures> Partitions { get; }

    /// <summary>The group without the age of its oldest message, which may have to be read from the disk.</summary>
    internal static GroupSummary Of(Topic topic, string name, IReadOnlyList<Group> groups) => new(topic, name, groups);

    /// <summary>The group with that age.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="name">The group's name.</param>
    /// <param name="groups">It, on each of its partitions.</param>
    /// <param name="cancellationToken">Ends the reading: what is not known by then stays unknown.</param>
    internal static async ValueTask<GroupSummary> ReadAsync(
        Topic topic,
        string name,
        IReadOnlyList<Group> groups,
        CancellationToken cancellationToken
    )
    {
        TimeSpan? oldest = TimeSpan.Zero;
        try
        {
            foreach (Group group in groups)
            {
                TimeSpan? age = await group.ReadOldestAgeAsync(cancellationToken).ConfigureAwait(false);
                oldest = age is null || age > oldest ? age : oldest;
                if (oldest is null)
                    break;
            }
        }
        catch (Exception e) when (e is IOException or OperationCanceledException)
        {
            oldest = null; // A monitor asks again, and disk errors have metrics of their own.
        }
        return Of(topic, name, groups) with { OldestUnsettled = oldest };
    }
}

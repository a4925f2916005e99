using LightQ.Broker;
using LightQ.Broker.Groups;
using LightQ.Broker.Topics;

namespace LightQ.Server.Telemetry;

/// <summary>Messages that the groups of a topic have not settled, and those that they have dead-lettered.</summary>
/// <param name="Groups">How many groups there are.</param>
/// <param name="WorstGroup">The one that lags most; empty when none lags.</param>
/// <param name="WorstLag">Its lag.</param>
/// <param name="DeadLetters">
/// Messages in the topic's dead-letter topic; null for a caller that may not see that.
/// </param>
internal readonly record struct TopicBacklog(int Groups, string WorstGroup, long WorstLag, long? DeadLetters)
{
    /// <summary>The backlogs of topics, by topic.</summary>
    /// <param name="broker">The broker.</param>
    /// <param name="topics">The topics.</param>
    /// <param name="sees">Whether the caller may know of a topic.</param>
    public static Dictionary<Topic, TopicBacklog> Of(
        LightQBroker broker,
        IReadOnlyList<Topic> topics,
        Func<string, bool> sees
    )
    {
        ILookup<Topic, GroupSummary> groups = broker
            .Groups.Summarize(broker.Groups.NamesOf(topics))
            .ToLookup(g => g.Topic);
        return topics.ToDictionary(
            t => t,
            t => Of([.. groups[t].Select(g => (g.Name, g.Lag))], DeadLettersOf(broker, t, sees))
        );
    }

    /// <summary>The backlog of one partition, whose dead letters are not counted separately.</summary>
    public static TopicBacklog Of(LightQBroker broker, Partition partition) =>
        Of(
            [
                .. broker
                    .Groups.Summarize(broker.Groups.NamesOf([partition.Topic]))
                    .SelectMany(g =>
                        g.Partitions.Where(p => p.Partition == partition.Index).Select(p => (g.Name, p.Lag))
                    ),
            ],
            deadLetters: null
        );

    /// <summary>Messages that the dead-letter topic of a topic holds; null for a caller that may not see it.</summary>
    public static long? DeadLettersOf(LightQBroker broker, Topic topic, Func<string, bool> sees)
    {
        if (broker.Groups.DeadLetterTopicOf(topic) is not { } dead)
            return 0;
        return sees(dead.Name) ? dead.Partitions.Sum(p => p.Log.EndOffset - p.Log.StartOffset) : null;
    }

    private static TopicBacklog Of((string Name, long Lag)[] groups, long? deadLetters)
    {
        (string name, long lag) = groups.Length == 0 ? ("", 0) : groups.MaxBy(g => g.Lag);
        return new TopicBacklog(groups.Length, lag > 0 ? name : "", lag, deadLetters);
    }
}

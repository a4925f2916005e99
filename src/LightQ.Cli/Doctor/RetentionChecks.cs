using System.Globalization;
using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.Cli.Doctor;

/// <summary>Whether the topics of a broker can fill its disk: those that keep messages for ever, and those that wait for a group that nobody uses.</summary>
internal static class RetentionChecks
{
    public const string Check = "broker's retention";

    /// <summary>From so many bytes on, a topic without a limit is told of.</summary>
    private const long Much = 1L << 30;

    private const int MostLooks = 100;

    public static async Task<Finding> RunAsync(LightQClient client, CancellationToken cancellationToken)
    {
        List<TopicInfo> unlimited = [], settled = [];
        await foreach (TopicInfo topic in client.Topics.ListAsync(cancellationToken))
        {
            TopicSpec spec = topic.Spec;
            if (spec is { Kind: TopicKind.Durable, Retention: Retention.Settled })
                settled.Add(topic);
            else if (spec is { Kind: TopicKind.Durable, RetentionBytes: 0 } && spec.RetentionAge == TimeSpan.Zero)
                unlimited.Add(topic);
        }
        foreach (TopicInfo topic in Largest(settled))
        {
            if (await FindHolderAsync(client, topic.Name, cancellationToken) is { } holder)
                return holder;
        }
        foreach (TopicInfo topic in Largest(unlimited))
        {
            TopicStats stats = await client.Stats.GetTopicAsync(topic.Name, cancellationToken);
            if (stats.StoredBytes >= Much)
                return Grown(stats, unlimited.Count);
        }
        return Finding.Ok(Check, string.Create(CultureInfo.InvariantCulture, $"{unlimited.Count} topics keep messages for ever, none of them {Much >> 30} GiB; {settled.Count} until all groups have settled"));
    }

    /// <summary>Those that hold most messages: each costs a call.</summary>
    private static IEnumerable<TopicInfo> Largest(List<TopicInfo> topics) => topics.OrderByDescending(t => t.EndOffsets.Sum() - t.StartOffsets.Sum()).Take(MostLooks);

    private static Finding Grown(TopicStats stats, int unlimited) => Finding.Warning(
        Check,
        string.Create(CultureInfo.InvariantCulture, $"{stats.Topic} keeps messages for ever and has grown to {stats.StoredBytes >> 20:N0} MiB; {unlimited} topics have no limit"),
        $"lightq topic ensure {stats.Topic} --retention settled, --retention-bytes or --retention-age.");

    /// <summary>What keeps messages of a topic though nobody works on them; null when somebody does, or nothing is kept.</summary>
    private static async Task<Finding?> FindHolderAsync(LightQClient client, string topic, CancellationToken cancellationToken)
    {
        TopicStats stats = await client.Stats.GetTopicAsync(topic, cancellationToken);
        if (stats.RetentionMessages == 0)
            return null;
        string messages = string.Create(CultureInfo.InvariantCulture, $"{stats.RetentionMessages:N0} messages of {topic}");
        if (stats.RetentionGroup is not { } name)
            return Finding.Warning(Check, $"{messages} are kept, as it has no group yet", "Its messages go when all its groups have settled them: see docs/groups.md.");
        GroupInfo group = await client.Groups.GetAsync(topic, name, cancellationToken);
        if (group.Lag == 0)
            return Finding.Warning(Check, $"{messages} are kept for dead letters of the group {name}", $"lightq group redrive {topic} {name}, or truncate the dead-letter topic.");
        return group.MembersCount != 0
            ? null
            : Finding.Warning(Check, $"{messages} are kept for the group {name}, which nobody uses", $"Start its consumers, or lightq group delete {topic} {name}.");
    }
}

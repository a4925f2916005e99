using System.Globalization;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Server.Diagnosis;

namespace LightQ.Cli.Doctor;

/// <summary>
/// Whether the topics of a broker can fill its disk: those that keep messages for ever, and those that wait for a group
/// that no client uses.
/// </summary>
internal static class RetentionChecks
{
    public const string Check = "broker's retention";

    /// <summary>From so many bytes on, a topic without a limit is reported.</summary>
    private const long Much = 1L << 30;

    private const int MostLooks = 100;

    /// <summary>When a group counts as unused: some consumers run at night, or not at weekends.</summary>
    private static readonly TimeSpan Abandoned = TimeSpan.FromDays(7);

    public static async Task<Finding> RunAsync(LightQClient client, CancellationToken cancellationToken)
    {
        List<TopicInfo> unlimited = [],
            settled = [];
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
            if (await FindHolderAsync(client, topic, cancellationToken) is { } holder)
                return holder;
        }
        foreach (TopicInfo topic in Largest(unlimited))
        {
            TopicStats stats = await client.Stats.GetTopicAsync(topic.Name, cancellationToken);
            if (stats.StoredBytes >= Much)
                return Grown(stats, unlimited.Count);
        }
        return Finding.Ok(
            Check,
            $"topics that keep messages for ever: {unlimited.Count}, none of {Much >> 30} GiB or more; "
                + $"until all groups have settled them: {settled.Count}"
        );
    }

    /// <summary>Those that hold most messages: each costs a call.</summary>
    private static IEnumerable<TopicInfo> Largest(List<TopicInfo> topics) =>
        topics.OrderByDescending(t => t.EndOffsets.Sum() - t.StartOffsets.Sum()).Take(MostLooks);

    private static Finding Grown(TopicStats stats, int unlimited) =>
        Finding.Warning(
            Check,
            $"{stats.Topic} keeps messages for ever and has grown to {Number(stats.StoredBytes >> 20)} MiB; "
                + $"topics without a limit: {unlimited}",
            $"lightq topic ensure {stats.Topic} --retention settled, --retention-bytes or --retention-age."
        );

    private static string Number(double value) => value.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>
    /// What keeps messages of a topic though nobody works on them; null when somebody does, nothing is kept, or it is
    /// too early to tell.
    /// </summary>
    private static async Task<Finding?> FindHolderAsync(
        LightQClient client,
        TopicInfo topic,
        CancellationToken cancelled
    )
    {
        TopicStats stats = await client.Stats.GetTopicAsync(topic.Name, cancelled);
        if (stats.RetentionMessages == 0)
            return null;
        string verb = stats.RetentionMessages == 1 ? "is" : "are";
        string kept = $"{Plural.Of(stats.RetentionMessages, "message")} of {topic.Name} {verb} kept";
        if (stats.RetentionGroup is not { } name)
        {
            return stats.Time - topic.CreateTime < Abandoned
                ? null
                : Finding.Warning(
                    Check,
                    $"{kept}, as it has no group yet",
                    "Its messages go when all its groups have settled them: see docs/use/groups.md."
                );
        }
        GroupInfo group = await client.Groups.GetAsync(topic.Name, name, cancelled);
        if (group.Lag == 0)
        {
            return Finding.Warning(
                Check,
                $"{kept} for dead letters of the group {name}",
                $"lightq group redrive {topic.Name} {name}, or truncate the dead-letter topic."
            );
        }
        if (group.MembersCount != 0 || group.OldestUnsettledAge is not { } age || age < Abandoned)
            return null;
        return Finding.Warning(
            Check,
            $"{kept} for the group {name}, which no client uses; the oldest has waited for {Number(age.Days)} days",
            $"Start its consumers; if it is no longer needed, lightq group delete {topic.Name} {name}."
        );
    }
}

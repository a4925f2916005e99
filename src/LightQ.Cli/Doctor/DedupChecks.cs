using System.Globalization;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Server.Diagnosis;

namespace LightQ.Cli.Doctor;

/// <summary>Whether topics forget ids of messages before their windows are over.</summary>
internal static class DedupChecks
{
    public const string Check = "broker's message ids";

    private const int MostLooks = 100;

    public static async Task<Finding> RunAsync(LightQClient client, CancellationToken cancellationToken)
    {
        List<TopicInfo> remembering = [];
        await foreach (TopicInfo topic in client.Topics.ListAsync(cancellationToken))
        {
            if (topic.Spec.DedupWindow is { } window && window > TimeSpan.Zero)
                remembering.Add(topic);
        }
        // Those that hold most messages: each costs a call.
        foreach (TopicInfo topic in remembering.OrderByDescending(t => t.EndOffsets.Sum()).Take(MostLooks))
        {
            TopicStats stats = await client.Stats.GetTopicAsync(topic.Name, cancellationToken);
            if (stats.ForgottenIds != 0)
                return Forgetting(topic, stats);
        }
        return Finding.Ok(Check, $"topics that remember ids: {remembering.Count}, none forgets them early");
    }

    private static Finding Forgetting(TopicInfo topic, TopicStats stats)
    {
        string count = stats.ForgottenIds.ToString("N0", CultureInfo.InvariantCulture);
        return Finding.Warning(
            Check,
            $"{topic.Name} has forgotten {count} ids within its window since the broker started, and stores their "
                + $"duplicates; a partition remembers {topic.Spec.DedupMaxIds ?? 0}",
            $"lightq topic ensure {topic.Name} --dedup-ids NUMBER, or a shorter --dedup-window."
        );
    }
}

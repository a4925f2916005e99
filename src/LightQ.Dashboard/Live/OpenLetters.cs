using Grpc.Core;
using LightQ.Dashboard.Api;
using LightQ.Protocol.Control;

namespace LightQ.Dashboard.Live;

/// <summary>How many dead letters of a group wait: they were neither redriven nor deleted.</summary>
/// <remarks>The broker lists them and does not count them, so they are counted anew after ten seconds only.</remarks>
internal sealed class OpenLetters(BrokerApi api, Session session)
{
    /// <summary>So many are counted at most.</summary>
    public const uint Most = 1000;

    private const int MostPages = 8,
        MostGroups = 20;

    private static readonly TimeSpan Age = TimeSpan.FromSeconds(10);

    private readonly Dictionary<(string Topic, string Group), (DateTimeOffset Time, uint? Count)> _known = [];

    /// <summary>A count in words.</summary>
    public static string WordsOf(uint count) => count < Most ? $"{count}" : $"{Most} or more";

    /// <summary>Counts those of one group; null when the user may not list them, or they cannot be listed.</summary>
    public async Task<uint?> CountAsync(string topic, string group, CancellationToken cancellation)
    {
        if (session.Missing(topic, Right.Consume).Length != 0)
            return null;
        if (_known.TryGetValue((topic, group), out (DateTimeOffset Time, uint? Count) known))
        {
            if (DateTimeOffset.UtcNow - known.Time < Age)
                return known.Count;
        }

        uint? count;
        try
        {
            count = await ReadAsync(topic, group, cancellation);
        }
        catch (RpcException e) when (!Failure.IsLogin(e) && !cancellation.IsCancellationRequested)
        {
            count = null; // The page shows what else it knows of the group.
        }

        _known[(topic, group)] = (DateTimeOffset.UtcNow, count);
        return count;
    }

    /// <summary>Counts those of the groups that may have some, as far as that is known.</summary>
    public async Task<IReadOnlyDictionary<Group, uint>> CountAsync(
        IReadOnlyCollection<Topic> topics,
        IEnumerable<Group> groups,
        CancellationToken cancellation
    )
    {
        HashSet<string> filled = [.. topics.Where(t => t.EndOffsets.Sum() > t.StartOffsets.Sum()).Select(t => t.Name)];
        HashSet<string> origins = [.. topics.Where(t => filled.Contains(LettersOf(t))).Select(t => t.Name)];
        var counts = new Dictionary<Group, uint>(ReferenceEqualityComparer.Instance);
        IEnumerable<Group> concerned = groups
            .Where(g => g.SettleMode != GroupSettleMode.Automatic)
            .Where(g => g.DeadLettered != 0 || origins.Contains(g.Topic))
            .OrderByDescending(g => g.DeadLettered);
        foreach (Group group in concerned.Take(MostGroups))
        {
            if (await CountAsync(group.Topic, group.Group_, cancellation) is { } count)
                counts[group] = count;
        }

        return counts;
    }

    /// <summary>Something was done with the letters of a group.</summary>
    public void Forget(string topic, string group) => _known.Remove((topic, group));

    private static string LettersOf(Topic topic) =>
        topic.Settings.DeadLetterTopic.Length == 0 ? topic.Name + ".dead" : topic.Settings.DeadLetterTopic;

    private async Task<uint?> ReadAsync(string topic, string group, CancellationToken cancellation)
    {
        var request = new ListLettersRequest
        {
            Topic = topic,
            Group = group,
            MaxLetters = Most,
            MaxBodyBytes = 0,
        };
        uint count = 0;
        for (int i = 0; i < MostPages; i++)
        {
            ListLettersResponse page = await api.DeadLetters.ListLettersAsync(request, cancellationToken: cancellation);
            count += (uint)page.Letters.Count;
            if (page.AtEnd || count >= Most)
                return Math.Min(count, Most);
            request.StartOffset = page.NextOffset;
        }

        return null;
    }
}

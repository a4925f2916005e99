using LightQ.Broker.Users;

namespace LightQ.Broker.Topics;

/// <summary>
/// Whether there is room for another topic: there are so many topics and partitions at most, and each user has a share
/// of both.
/// </summary>
/// <param name="topics">The topics that there are.</param>
/// <param name="options">The limits.</param>
/// <param name="refusals">Counts what is rejected.</param>
internal sealed class TopicRoom(Func<ICollection<Topic>> topics, Func<BrokerOptions> options, LimitRefusals refusals)
{
    /// <summary>Whether the limits are met, whoever wants it.</summary>
    public bool IsShort(TopicSettings settings)
    {
        BrokerOptions limits = options();
        ICollection<Topic> all = topics();
        return all.Count >= limits.MaxTopics || Partitions(all) + settings.Partitions > limits.MaxPartitions;
    }

    /// <summary>Demands room for a topic.</summary>
    /// <param name="settings">Its settings.</param>
    /// <param name="maker">
    /// The <see cref="UserNumber"/> of whoever makes it; nobody's for what the broker makes, as letters have to go
    /// somewhere.
    /// </param>
    /// <exception cref="BrokerException">There is none: <see cref="ErrorCode.ResourceExhausted"/>.</exception>
    public void Demand(TopicSettings settings, uint maker)
    {
        BrokerOptions limits = options();
        ICollection<Topic> all = topics();
        long partitions = Partitions(all);
        int more = (int)settings.Partitions;
        if (all.Count >= limits.MaxTopics)
            throw Exhausted(nameof(BrokerOptions.MaxTopics), limits.MaxTopics, $"There are {all.Count} topics");
        if (partitions + more > limits.MaxPartitions)
        {
            string found = $"There are {partitions} partitions, and the new topic would have {more} more";
            throw Exhausted(nameof(BrokerOptions.MaxPartitions), limits.MaxPartitions, found);
        }
        int percent = limits.MaxSharePercent;
        bool matters =
            UserShare.Matters(maker, all.Count, limits.MaxTopics, percent)
            || UserShare.IsUsedUp(maker, partitions, partitions, limits.MaxPartitions, percent, more);
        if (!matters)
            return; // Only then are they to be told apart.
        Topic[] own = [.. all.Where(t => t.Maker == maker)];
        if (UserShare.IsUsedUp(maker, own.Length, all.Count, limits.MaxTopics, percent))
        {
            string found = UserShare.Describe(own.Length, all.Count, "topics");
            throw Exhausted(nameof(BrokerOptions.MaxTopics), limits.MaxTopics, found);
        }
        long ownPartitions = Partitions(own);
        if (UserShare.IsUsedUp(maker, ownPartitions, partitions, limits.MaxPartitions, percent, more))
        {
            string found = UserShare.Describe(ownPartitions, partitions, "partitions");
            throw Exhausted(nameof(BrokerOptions.MaxPartitions), limits.MaxPartitions, found);
        }
    }

    private BrokerException Exhausted(string setting, int limit, string found) =>
        refusals.Exhausted(setting, limit, found);

    private static long Partitions(IEnumerable<Topic> topics) => topics.Sum(t => (long)t.Settings.Partitions);
}

using LightQ.Dashboard.Texts;
using LightQ.Protocol.Control;

namespace LightQ.Dashboard.Live;

/// <summary>What somebody should look at, the worst first.</summary>
internal static class Attention
{
    private static readonly TimeSpan OldAge = TimeSpan.FromMinutes(5);

    /// <summary>Looks through topics and groups.</summary>
    public static IReadOnlyList<Finding> Of(IEnumerable<Topic> topics, IEnumerable<Group> groups) =>
        [.. topics.SelectMany(OfTopic).Concat(groups.SelectMany(OfGroup)).OrderByDescending(f => f.Weight)];

    private static IEnumerable<Finding> OfTopic(Topic topic)
    {
        string address = Address.Topic(topic.Name);
        if (topic.Failure.Length != 0)
            yield return new(3, topic.Name, address, $"takes no messages: {topic.Failure}");
        string damage = $"has {Figure.Count(topic.Damage.Count, "damaged range")} of messages";
        if (topic.Damage.Count != 0)
            yield return new(3, topic.Name, address, damage);
    }

    private static IEnumerable<Finding> OfGroup(Group group)
    {
        string name = $"{group.Topic} / {group.Group_}",
            address = Address.Group(group.Topic, group.Group_),
            waiting = group.Lag == 1 ? "1 message waits" : $"{Figure.Whole(group.Lag)} messages wait";
        if (group.MembersCount == 0 && group.Lag != 0)
            yield return new(2, name, address, $"{waiting} and the group has no members");
        else if (group.Paused && group.Lag != 0)
            yield return new(2, name, address, $"{waiting} while the group is paused");
        else if (group.OldestUnsettledAge?.ToTimeSpan() is { } age && age > OldAge)
            yield return new(1, name, address, $"{waiting}, the oldest for {Figure.Span(age)}");
        if (group.DeadLettered != 0)
            yield return new(1, name, address, $"has dead-lettered {Figure.Count(group.DeadLettered, "message")}");
    }

    /// <summary>One thing to look at.</summary>
    internal sealed record Finding(int Weight, string Name, string Address, string Text);
}

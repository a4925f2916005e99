using LightQ.Dashboard.Texts;
using LightQ.Protocol.Control;

namespace LightQ.Dashboard.Live;

/// <summary>What somebody should look at, the worst first.</summary>
internal static class Attention
{
    private static readonly TimeSpan OldAge = TimeSpan.FromMinutes(5);

    /// <summary>Looks through topics and groups.</summary>
    /// <param name="topics">The topics.</param>
    /// <param name="groups">The groups.</param>
    /// <param name="letters">How many dead letters of a group wait, where that is known.</param>
    public static IReadOnlyList<Finding> Of(
        IEnumerable<Topic> topics,
        IEnumerable<Group> groups,
        IReadOnlyDictionary<Group, uint> letters
    ) =>
        [
            .. topics
                .SelectMany(OfTopic)
                .Concat(groups.SelectMany(g => OfGroup(g, letters.TryGetValue(g, out uint count) ? count : null)))
                .OrderByDescending(f => f.Weight),
        ];

    private static IEnumerable<Finding> OfTopic(Topic topic)
    {
        string address = Address.Topic(topic.Name);
        if (topic.Failure.Length != 0)
            yield return new(3, topic.Name, address, $"takes no messages: {topic.Failure}");
        string damage = $"has {Figure.Count(topic.Damage.Count, "damaged range")} of messages";
        if (topic.Damage.Count != 0)
            yield return new(3, topic.Name, address, damage);
    }

    private static IEnumerable<Finding> OfGroup(Group group, uint? letters)
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
        if (letters > 0)
        {
            string text =
                letters == 1 ? "1 dead letter waits" : $"{OpenLetters.WordsOf(letters.Value)} dead letters wait";
            yield return new(1, name, address, text);
        }
        else if (letters is null && group.DeadLettered != 0)
        {
            string text = $"has dead-lettered {Figure.Count(group.DeadLettered, "message")} since the broker started";
            yield return new(1, name, address, text);
        }
    }

    /// <summary>One thing to look at.</summary>
    internal sealed record Finding(int Weight, string Name, string Address, string Text);
}

using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// Changes of a catalog while its disk has trouble, what was answered to each, and whether what is found agrees with
/// that.
/// </summary>
internal sealed class StateChange(LightQClient client, string name, string directory, List<string> violations)
{
    private readonly string _user = $"{name}-user",
        _newUser = $"{name}-new",
        _topic = $"{name}-gone",
        _newTopic = $"{name}-made";
    private Answer _revoked,
        _userMade,
        _topicMade,
        _topicDeleted;

    private enum Answer
    {
        /// <summary>No error.</summary>
        Done,

        /// <summary>It counts, and a restart may undo it.</summary>
        Counts,

        /// <summary>It does not count, and a restart may bring it back.</summary>
        MayReturn,

        /// <summary>It does not count.</summary>
        Refused,
    }

    /// <summary>Makes what is to be changed.</summary>
    public async Task PrepareAsync()
    {
        await client.Users.CreateAsync(_user, password: null);
        await client.Users.GrantAsync(_user, UserRight.Publish, "orders");
        await client.Topics.CreateAsync(new TopicSpec(_topic) { Kind = TopicKind.Durable });
        await using Producer producer = await client.CreateProducerAsync(_topic);
        await producer.PublishAsync("kept"u8);
    }

    /// <summary>Changes it.</summary>
    public async Task RunAsync()
    {
        _revoked = await TryAsync(() => client.Users.RevokeAsync(_user, UserRight.Publish, "orders"));
        _userMade = await TryAsync(() => client.Users.CreateAsync(_newUser, password: null));
        _topicMade = await TryAsync(() =>
            client.Topics.CreateAsync(new TopicSpec(_newTopic) { Kind = TopicKind.Durable })
        );
        _topicDeleted = await TryAsync(() => client.Topics.DeleteAsync(_topic));
    }

    /// <summary>Whether the answers are those that a wave should bring.</summary>
    public void Judge(ErrorWave wave)
    {
        Answer[] answers = [_revoked, _userMade, _topicMade, _topicDeleted];
        bool isRight = wave switch
        {
            { HitsState: false } => answers.All(a => a == Answer.Done),
            { IsForGood: true } => _revoked == Answer.Counts
                && _topicDeleted == Answer.Counts
                && _userMade is Answer.MayReturn or Answer.Refused
                && _topicMade is Answer.MayReturn or Answer.Refused,
            _ => _revoked is Answer.Done or Answer.Counts && _topicDeleted is Answer.Done or Answer.Counts,
        };
        if (!isRight)
            violations.Add($"{wave.Name}: changes of the catalog were answered with {string.Join(", ", answers)}");
    }

    /// <summary>Whether the broker holds what the answers say.</summary>
    /// <param name="isExact">Whether all that counted has been stored; otherwise a restart may have undone it.</param>
    public async Task CheckAsync(bool isExact)
    {
        var users = (await client.Users.ListAsync()).Select(u => u.Name).ToHashSet();
        Dictionary<string, TopicInfo> topics = [];
        await foreach (TopicInfo topic in client.Topics.ListAsync())
            topics.Add(topic.Name, topic);
        bool hasRight = (await client.Users.ListGrantsAsync(_user)).Count != 0;
        Check("the right that was taken away", hasRight, isTaken: true, _revoked, isExact);
        Check("the topic that was deleted", topics.ContainsKey(_topic), isTaken: true, _topicDeleted, isExact);
        Check("the user that was made", users.Contains(_newUser), isTaken: false, _userMade, isExact);
        Check("the topic that was made", topics.ContainsKey(_newTopic), isTaken: false, _topicMade, isExact);
        if (
            topics.TryGetValue(_topic, out TopicInfo? returned)
            && (returned.Failure.Length != 0 || returned.EndOffsets[0] != 1)
        )
        {
            violations.Add(
                $"{name}: the topic that came back says '{returned.Failure}' and ends at "
                    + $"{string.Join(' ', returned.EndOffsets)}"
            );
        }

        if (topics.TryGetValue(_newTopic, out TopicInfo? made) && made.Failure.Length != 0)
            violations.Add($"{name}: the new topic says '{made.Failure}'");
    }

    private void Check(string what, bool isThere, bool isTaken, Answer answer, bool isExact)
    {
        bool mayBeThere = answer switch
        {
            Answer.Done => !isTaken,
            Answer.Counts => !isExact,
            Answer.MayReturn => !isExact,
            _ => false,
        };
        bool mustBeThere = answer == Answer.Done && !isTaken;
        if (isThere ? !mayBeThere : mustBeThere)
            violations.Add($"{name}: {what}, answered {answer}, is {(isThere ? "" : "not ")}there");
    }

    private async Task<Answer> TryAsync(Func<Task> change)
    {
        try
        {
            await change();
            return Answer.Done;
        }
        catch (LightQException e)
        {
            if (
                e.Code is not (ErrorCode.Internal or ErrorCode.DiskFull)
                || e.Message.Contains(directory, StringComparison.Ordinal)
            )
            {
                violations.Add($"{name}: {e.Code}: {e.Message}");
            }

            return e.Message.Contains("counts from now on", StringComparison.Ordinal) ? Answer.Counts
                : e.Message.Contains("A restart may find it", StringComparison.Ordinal) ? Answer.MayReturn
                : Answer.Refused;
        }
    }
}

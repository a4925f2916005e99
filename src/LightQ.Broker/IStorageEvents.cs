using LightQ.Broker.DeadLetters;
using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Storage;

namespace LightQ.Broker;

/// <summary>
/// Gets reports of what the disk does to a running broker, on the threads that meet it. Must not block, and must not
/// throw.
/// </summary>
public interface IStorageEvents
{
    /// <summary>Messages were found damaged; once for every range. The topic goes on, with a gap there.</summary>
    void OnDamaged(Partition partition, JournalDamage damage);

    /// <summary>A start made something anew that was not as it had been left; nothing is lost by it.</summary>
    void OnRebuilt(string what);

    /// <summary>A start found a directory with messages of a topic that the catalog does not know.</summary>
    void OnUnknownTopic(string directory);

    /// <summary>A partition takes nothing more until the broker is started again.</summary>
    void OnTopicFailed(Partition partition, JournalFailure failure);

    /// <summary>A partition takes nothing for want of space, or takes messages again.</summary>
    void OnDiskFull(Partition partition, bool isFull);

    /// <summary>A partition has no limit and has grown, as far as the last time or twice as far.</summary>
    void OnGrown(Partition partition, long bytes);

    /// <summary>
    /// A partition that removes messages when all groups have settled them has grown likewise, and what keeps them.
    /// </summary>
    void OnHeld(Partition partition, long bytes, RetentionHold hold);

    /// <summary>
    /// A partition forgets ids of messages before their time, since more come than it may remember: how many since the
    /// start. Told once an hour while it does.
    /// </summary>
    void OnIdsForgotten(Partition partition, long count);

    /// <summary>A group has ended that nobody had used for so long.</summary>
    void OnGroupEnded(Topic topic, string group, TimeSpan unused);

    /// <summary>
    /// Messages are dead letters now, and how many others have become some since the last time that this was told.
    /// </summary>
    void OnDeadLettered(Partition partition, string group, string deadTopic, DeadLettered letters, long leftOut);

    /// <summary>
    /// A partition with replicas is lost: another node has claimed it, or the engine does not answer.
    /// </summary>
    void OnPartitionLost(Partition partition, string reason);

    /// <summary>State on the disk stays behind what is in force, and why; null: it no longer does.</summary>
    void OnStateFailed(StoredState state, JournalFailure? failure);

    /// <summary>The disk refused something else, and the caller gets the reason without the names of files.</summary>
    /// <param name="what">What, such as "the files of the topic orders".</param>
    /// <param name="error">Why.</param>
    void OnRefused(string what, Exception error);
}

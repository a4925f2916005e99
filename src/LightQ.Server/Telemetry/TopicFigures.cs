using System.Collections.Immutable;
using LightQ.Broker.Topics;

namespace LightQ.Server.Telemetry;

/// <summary>
/// A topic's figures at one moment, over its partitions or of one: what statistics and metrics both show.
/// </summary>
internal readonly record struct TopicFigures
{
    private TopicFigures(ImmutableArray<Partition> partitions)
    {
        foreach (Partition partition in partitions)
        {
            PartitionCounters counters = partition.Counters;
            MessagesReceived += (ulong)counters.MessagesReceived;
            MessagesSent += (ulong)counters.MessagesSent;
            MessagesSettled += (ulong)counters.MessagesSettled;
            BytesWritten += (ulong)counters.BytesWritten;
            BytesRead += (ulong)counters.BytesRead;
            Gaps += (ulong)counters.Gaps;
            Drops += (ulong)counters.Drops;
            Duplicates += (ulong)counters.Duplicates;
            ForgottenIds += (ulong)counters.ForgottenIds;
            RememberedIds += (ulong)partition.RememberedIds;
            Publishers += (uint)partition.Producers.Length;
            Subscribers += (uint)partition.Subscriptions.Length;
            QueueSize += (ulong)partition.QueueSize;
            DelayedMessages += (ulong)partition.DelayedMessages;
            StoredBytes += (ulong)partition.Log.StoredBytes;
            StartOffset += partition.Log.StartOffset;
            EndOffset += partition.Log.EndOffset;
            DurableOffset += partition.Log.DurableOffset;
        }
    }

    /// <summary>Messages appended.</summary>
    public ulong MessagesReceived { get; }

    /// <summary>Messages sent, each copy counted.</summary>
    public ulong MessagesSent { get; }

    /// <summary>Messages settled by subscribers with explicit settlement, each copy counted.</summary>
    public ulong MessagesSettled { get; }

    /// <summary>Bytes of batches appended.</summary>
    public ulong BytesWritten { get; }

    /// <summary>Bytes of batches sent.</summary>
    public ulong BytesRead { get; }

    /// <summary>Gaps sent.</summary>
    public ulong Gaps { get; }

    /// <summary>Messages lost to subscribers by their policy.</summary>
    public ulong Drops { get; }

    /// <summary>Messages that were not stored, because their ids were remembered.</summary>
    public ulong Duplicates { get; }

    /// <summary>Ids of messages that were forgotten before their time.</summary>
    public ulong ForgottenIds { get; }

    /// <summary>Ids of messages that are remembered.</summary>
    public ulong RememberedIds { get; }

    /// <summary>Open producer streams.</summary>
    public uint Publishers { get; }

    /// <summary>Open subscriptions.</summary>
    public uint Subscribers { get; }

    /// <summary>Messages that the slowest subscriber has not been sent.</summary>
    public ulong QueueSize { get; }

    /// <summary>Messages that are not due yet.</summary>
    public ulong DelayedMessages { get; }

    /// <summary>Bytes held.</summary>
    public ulong StoredBytes { get; }

    /// <summary>The first offset held; of several partitions, the sum.</summary>
    public long StartOffset { get; }

    /// <summary>One behind the last offset appended; of several partitions, the sum.</summary>
    public long EndOffset { get; }

    /// <summary>One behind the last offset that survives a power cut; of several partitions, the sum.</summary>
    public long DurableOffset { get; }

    /// <summary>Reads the figures; all zero for a topic that could not be opened.</summary>
    public static TopicFigures Of(Topic topic) => new(topic.Partitions);

    /// <summary>Reads the figures of one partition.</summary>
    public static TopicFigures Of(Partition partition) => new([partition]);
}

using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using SettleMode = LightQ.Client.SettleMode;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Messages;

/// <summary>Makes of a Subscribe request what the engine takes: one request for each partition.</summary>
internal static class SubscribeMapping
{
    /// <summary>The streams of a call are one consumer of its connection.</summary>
    private const uint Member = 1;

    /// <exception cref="BrokerException">
    /// There is no such topic or partition, or a value is outside its range.
    /// </exception>
    public static SubscribeFrame[] ToFrames(Subscribe request, Topic topic)
    {
        if (request.HasPartition)
            topic.GetPartition(request.Partition);
        else
            RefuseIncomplete(topic);
        uint[] partitions = request.HasPartition ? [request.Partition] : [.. topic.Partitions.Select(p => p.Index)];
        (StartKind start, long value) = StartOf(request);
        if (start == StartKind.Offset && partitions.Length > 1)
        {
            throw Refuse(
                $"offset is set and the topic '{topic.Name}' has {partitions.Length} partitions, each with offsets of "
                    + $"its own; set partition, or use positions"
            );
        }

        if (!System.Enum.IsDefined(request.SettleMode))
            throw Refuse($"settle_mode is {(int)request.SettleMode}; allowed: 0 to {(int)GroupSettleMode.Explicit}");
        if (!System.Enum.IsDefined(request.SlowPolicy))
        {
            throw Refuse(
                $"slow_policy is {(int)request.SlowPolicy}; allowed: 0 (the topic's) to "
                    + $"{(int)SlowConsumerPolicy.SpillToDisk}"
            );
        }

        SettleMode settleMode =
            request.SettleMode == GroupSettleMode.Explicit ? SettleMode.Explicit : SettleMode.Automatic;
        uint timeout = request.SlowTimeout is null
            ? 0
            : (uint)
                RequestTimes
                    .Read(
                        request.SlowTimeout,
                        "slow_timeout",
                        TimeSpan.FromMilliseconds(ProtocolLimits.MinSlowTimeoutMilliseconds),
                        TimeSpan.FromMilliseconds(ProtocolLimits.MaxSlowTimeoutMilliseconds),
                        "500 ms to 24 h"
                    )
                    .TotalMilliseconds;
        uint locks = request.LockDuration is null
            ? 0
            : (uint)
                RequestTimes
                    .Read(
                        request.LockDuration,
                        "lock_duration",
                        TimeSpan.FromMilliseconds(ProtocolLimits.MinLockMilliseconds),
                        TimeSpan.FromMilliseconds(ProtocolLimits.MaxLockMilliseconds),
                        "1 s to 12 h"
                    )
                    .TotalMilliseconds;
        SubscribeFrame[] frames =
        [
            .. partitions.Select(partition => new SubscribeFrame(
                topic.Name,
                partition,
                request.Group,
                start,
                value,
                LastOffset: -1,
                LastEpoch: 0,
                LastIncarnation: 0,
                settleMode,
                (SlowPolicy)request.SlowPolicy,
                request.MaxInFlight,
                Member,
                timeout,
                locks,
                settleMode == SettleMode.Explicit && request.Group.Length != 0 ? SubscribeFrame.AllAtATime : 0
            )),
        ];
        foreach (PartitionStart position in request.Positions)
            Place(frames, position, request.Group);
        return frames;
    }

    /// <summary>
    /// A client that asks for all partitions would miss the keys of one that is not served, without learning of it.
    /// </summary>
    private static void RefuseIncomplete(Topic topic)
    {
        if (topic.Partitions.FirstOrDefault(p => p.Refusal is not null) is not { Refusal: { } refusal } refused)
            return;
        string advice = topic.Partitions.Any(p => p.Refusal is null)
            ? " The other partitions can be subscribed to, each with a call of its own that sets partition."
            : "";
        throw new BrokerException(refusal.Code, $"{topic.Describe(refused.Index, refusal.Reason)}{advice}");
    }

    private static void Place(SubscribeFrame[] frames, PartitionStart position, string group)
    {
        int index = Array.FindIndex(frames, f => f.Partition == position.Partition);
        if (group.Length != 0)
            throw Refuse("positions are set, and the group keeps its own");
        if (index < 0)
        {
            throw new BrokerException(
                ErrorCode.UnknownPartition,
                $"positions names partition {position.Partition}, which is not subscribed to."
            );
        }

        if (position.Offset < 0)
            throw Refuse($"positions has the offset {position.Offset}; allowed: 0 or more");
        frames[index] = frames[index] with
        {
            Start = StartKind.Offset,
            StartValue = position.Offset,
            LastOffset = position.Offset - 1,
            LastEpoch = position.Epoch,
            LastIncarnation = position.Incarnation,
        };
    }

    private static (StartKind Start, long Value) StartOf(Subscribe request) =>
        request.StartCase switch
        {
            Subscribe.StartOneofCase.None => (request.Group.Length != 0 ? StartKind.Committed : StartKind.Latest, 0),
            Subscribe.StartOneofCase.Earliest when request.Earliest => (StartKind.Earliest, 0),
            Subscribe.StartOneofCase.Latest when request.Latest => (StartKind.Latest, 0),
            Subscribe.StartOneofCase.Committed when request.Committed => (StartKind.Committed, 0),
            Subscribe.StartOneofCase.Offset => (StartKind.Offset, request.Offset),
            Subscribe.StartOneofCase.Time => (StartKind.Timestamp, RequestTimes.Read(request.Time, "time")),
            _ => throw Refuse("start is set to false; allowed: true, or to leave it out"),
        };

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, $"{problem}.");
}

using Google.Protobuf.Collections;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;

namespace LightQ.Server.Messages;

/// <summary>A request whose messages are not all acknowledged yet. Guarded by its session's gate.</summary>
internal sealed class PendingPublish
{
    private int _left;

    /// <param name="count">How many messages it has.</param>
    public PendingPublish(int count)
    {
        _left = count;
        Ack.Positions.Capacity = count;
        for (int i = 0; i < count; i++)
            Ack.Positions.Add(new MessagePosition());
    }

    /// <summary>Where its messages are.</summary>
    public PublishAck Ack { get; } = new();

    /// <summary>What the topic does not take of it.</summary>
    public RepeatedField<RefusedMessage> Refused { get; } = [];

    /// <summary>What a stream is answered when it is done.</summary>
    public PublishStreamResponse Response =>
        Refused.Count == 0
            ? new PublishStreamResponse { Ack = Ack }
            : new PublishStreamResponse
            {
                Refused = new PublishRefused { Positions = { Ack.Positions }, Refused = { Refused } },
            };

    /// <summary>How many messages it has.</summary>
    public int Count => Ack.Positions.Count;

    /// <summary>How many bytes the records have of those that are not refused.</summary>
    public long Bytes { get; set; }

    /// <summary>Whether all messages are acknowledged.</summary>
    public bool IsDone => _left == 0;

    /// <summary>The topic does not take a message.</summary>
    public void Refuse(int index, BrokerException reason)
    {
        Refused.Add(
            new RefusedMessage
            {
                Index = (uint)index,
                Code = reason.Code.ToString(),
                Message = reason.Message,
            }
        );
        _left--;
    }

    /// <summary>A message is acknowledged.</summary>
    /// <param name="index">Which of the request.</param>
    /// <param name="partition">Where it is.</param>
    /// <param name="range">What the broker says of it and its neighbours.</param>
    /// <param name="place">Which of these it is.</param>
    public void Acknowledge(int index, uint partition, in AckRange range, int place)
    {
        MessagePosition position = Ack.Positions[index];
        (position.Partition, position.Offset) = (partition, range.BaseOffset + place);
        (position.Duplicate, position.IdUnchecked) = (range.IsDuplicate, range.IsUnchecked);
        _left--;
    }
}

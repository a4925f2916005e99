using LightQ.Protocol.Control;

namespace LightQ.Server.Messages;

/// <summary>A request whose messages are not all acknowledged yet. Guarded by its session's gate.</summary>
internal sealed class PendingPublish
{
    private int _left;

    /// <param name="count">How many messages it has.</param>
    /// <param name="bytes">How many bytes their records have.</param>
    public PendingPublish(int count, long bytes)
    {
        (_left, Bytes) = (count, bytes);
        Ack.Positions.Capacity = count;
        for (int i = 0; i < count; i++)
            Ack.Positions.Add(new MessagePosition());
    }

    /// <summary>What is answered when it is done.</summary>
    public PublishAck Ack { get; } = new();

    /// <summary>How many messages it has.</summary>
    public int Count => Ack.Positions.Count;

    /// <summary>How many bytes their records have.</summary>
    public long Bytes { get; }

    /// <summary>Whether all messages are acknowledged.</summary>
    public bool IsDone => _left == 0;

    /// <summary>A message is acknowledged.</summary>
    public void Acknowledge(int index, uint partition, long offset, bool isDuplicate)
    {
        MessagePosition position = Ack.Positions[index];
        (position.Partition, position.Offset, position.Duplicate) = (partition, offset, isDuplicate);
        _left--;
    }
}

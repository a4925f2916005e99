namespace LightQ.Broker.Topics;

/// <summary>
/// A partition's counters since the broker started. Each has one writer at a time or is added to atomically.
/// </summary>
public sealed class PartitionCounters
{
    private long _messagesReceived;
    private long _bytesWritten;
    private long _messagesSent;
    private long _bytesRead;
    private long _messagesSettled;
    private long _gaps;
    private long _drops;
    private long _duplicates;
    private long _forgottenIds;

    /// <summary>Messages appended.</summary>
    public long MessagesReceived => Volatile.Read(ref _messagesReceived);

    /// <summary>Bytes of batches appended.</summary>
    public long BytesWritten => Volatile.Read(ref _bytesWritten);

    /// <summary>Messages sent, each copy counted.</summary>
    public long MessagesSent => Volatile.Read(ref _messagesSent);

    /// <summary>Bytes of batches sent.</summary>
    public long BytesRead => Volatile.Read(ref _bytesRead);

    /// <summary>Messages settled by subscribers with explicit settlement, each copy counted.</summary>
    public long MessagesSettled => Volatile.Read(ref _messagesSettled);

    /// <summary>Gaps sent.</summary>
    public long Gaps => Volatile.Read(ref _gaps);

    /// <summary>Messages lost to subscribers by their policy.</summary>
    public long Drops => Volatile.Read(ref _drops);

    /// <summary>Messages that were not appended, because messages with their ids were.</summary>
    public long Duplicates => Volatile.Read(ref _duplicates);

    /// <summary>Ids of messages that were forgotten before their time, because so many others came.</summary>
    public long ForgottenIds => Volatile.Read(ref _forgottenIds);

    /// <summary>Counts an id that was forgotten before its time; the caller holds the append lock.</summary>
    internal void ForgetId() => Volatile.Write(ref _forgottenIds, _forgottenIds + 1);

    /// <summary>Counts a message that was not appended; the caller holds the append lock.</summary>
    internal void Duplicate() => Volatile.Write(ref _duplicates, _duplicates + 1);

    /// <summary>Counts an append; the caller holds the append lock.</summary>
    internal void Received(long messages, long bytes)
    {
        Volatile.Write(ref _messagesReceived, _messagesReceived + messages);
        Volatile.Write(ref _bytesWritten, _bytesWritten + bytes);
    }

    internal void Sent(long messages, long bytes)
    {
        Interlocked.Add(ref _messagesSent, messages);
        Interlocked.Add(ref _bytesRead, bytes);
    }

    internal void Settled(long messages) => Interlocked.Add(ref _messagesSettled, messages);

    internal void Gap(long dropped)
    {
        Interlocked.Increment(ref _gaps);
        Interlocked.Add(ref _drops, dropped);
    }
}

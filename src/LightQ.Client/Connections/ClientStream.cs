using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>A producer or a subscription: something with a stream id that outlives connections.</summary>
internal abstract class ClientStream
{
    private long? _firstElsewhere;
    private int _closings;
    private volatile bool _isWaiting;

    /// <summary>The link that it belongs to; null when it is not attached. Guarded by the links' gate.</summary>
    public BrokerLink? Link { get; set; }

    /// <summary>What brokers said of its partition's leader; guarded by the stream's gate.</summary>
    public LeaderHints Hints { get; } = new();

    /// <summary>How often it was closed to be opened again: only the last time counts.</summary>
    public int Closings => Volatile.Read(ref _closings);

    /// <summary>Whether it was closed, and waits to be opened again: no broker has anything of it.</summary>
    public bool IsWaiting => _isWaiting;

    /// <summary>The topic's name.</summary>
    public abstract string Topic { get; }

    /// <summary>The partition that it is opened for; null when the broker chooses it.</summary>
    public abstract int? WantedPartition { get; }

    /// <summary>The partition whose leader serves it; null while the broker is to choose it.</summary>
    public virtual int? LedPartition => WantedPartition;

    /// <summary>Whether something was sent and not yet answered, so that a leaving broker is given time.</summary>
    public virtual bool HasUnanswered => false;

    /// <summary>Opens the stream on a connection, the first or a later one. Does not wait for the answer.</summary>
    public abstract void Open(Connection connection);

    /// <summary>Takes a frame of this stream, on the receiving thread.</summary>
    public abstract void OnFrame(Connection connection, in FrameHeader header, ReadOnlySpan<byte> body);

    /// <summary>Takes a run of delivered batches, on the receiving thread.</summary>
    /// <returns>Whether <see cref="Wake"/> should be called once this receive is parsed.</returns>
    public virtual bool OnRun(
        Connection connection,
        uint stream,
        ReceiveBlock block,
        int offset,
        int length,
        int lastBatch
    ) => false;

    /// <summary>Takes a GroupDeliver frame, on the receiving thread.</summary>
    /// <returns>As <see cref="OnRun"/>.</returns>
    public virtual bool OnGroupDeliver(Connection connection, in FrameHeader header, ReceiveBlock block, int offset) =>
        false;

    /// <summary>Resumes the caller that waits for this stream.</summary>
    public virtual void Wake() { }

    /// <summary>It is closed, to be opened again. Called under the stream's gate.</summary>
    /// <returns>How often that was.</returns>
    public int OnReopening()
    {
        _isWaiting = true;
        return Interlocked.Increment(ref _closings);
    }

    /// <summary>
    /// Takes the stream off a connection as if its broker had said that another leads the partition, if that is news
    /// and the stream was open before.
    /// </summary>
    public abstract void OnOtherLeader(Connection connection, in ClosedFrame closed);

    /// <summary>The connection is gone and none of its threads runs any more.</summary>
    public abstract void OnDisconnected(LightQException reason);

    /// <summary>It is being opened. Called under the stream's gate.</summary>
    protected void OnOpening() => _isWaiting = false;

    /// <summary>
    /// Whether a stream is opened again because another node leads its partition, or none at the moment. One that never
    /// was open gives up when that takes as long as a connection may.
    /// </summary>
    protected bool IsOpenedElsewhere(LightQException reason, bool wasOpened, LightQClientOptions options)
    {
        if (reason.Code != ErrorCode.NotLeader)
            return false;
        long now = options.ConnectionTime.GetTimestamp();
        _firstElsewhere ??= now;
        return wasOpened || options.ConnectionTime.GetElapsedTime(_firstElsewhere.Value, now) < options.ConnectTimeout;
    }

    /// <summary>
    /// The stream, which is closed, is opened on another connection from now on, and nothing of it is being sent on the
    /// one before.
    /// </summary>
    public abstract void OnMoved();

    /// <summary>There will be no further connection.</summary>
    public abstract void OnClosed(LightQException reason);
}

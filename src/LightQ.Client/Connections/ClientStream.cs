using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>A producer or a subscription: something with a stream id that outlives connections.</summary>
internal abstract class ClientStream
{
    private long? _firstElsewhere;

    /// <summary>Whether something was sent and not yet answered, so that a leaving broker is given time.</summary>
    public virtual bool HasUnanswered => false;

    /// <summary>Opens the stream on a connection, the first or a later one. Does not wait for the answer.</summary>
    public abstract void Open(Connection connection);

    /// <summary>Takes a frame of this stream, on the receiving thread.</summary>
    public abstract void OnFrame(Connection connection, in FrameHeader header, ReadOnlySpan<byte> body);

    /// <summary>Takes a run of delivered batches, on the receiving thread.</summary>
    /// <returns>Whether <see cref="Wake"/> should be called once this receive is parsed.</returns>
    public virtual bool OnRun(uint stream, ReceiveBlock block, int offset, int length, int lastBatch) => false;

    /// <summary>Takes a GroupDeliver frame, on the receiving thread.</summary>
    /// <returns>As <see cref="OnRun"/>.</returns>
    public virtual bool OnGroupDeliver(in FrameHeader header, ReceiveBlock block, int offset) => false;

    /// <summary>Resumes the caller that waits for this stream.</summary>
    public virtual void Wake() { }

    /// <summary>The connection is gone and none of its threads runs any more.</summary>
    public abstract void OnDisconnected(LightQException reason);

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

    /// <summary>There will be no further connection.</summary>
    public abstract void OnClosed(LightQException reason);
}

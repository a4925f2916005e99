namespace LightQ.Broker.Streams;

/// <summary>
/// A producer stream or a subscription: something of a connection that has frames to send now and then.
/// </summary>
public abstract class OutputStream
{
    private int _queued;
    private int _released;
    private bool _awaitsOpening;
    private StreamClose? _close;

    private protected OutputStream(IStreamOwner owner, uint id)
    {
        Owner = owner;
        Id = id;
    }

    /// <summary>The stream id that the client chose.</summary>
    public uint Id { get; }

    /// <summary>The connection it belongs to.</summary>
    public IStreamOwner Owner { get; }

    /// <summary>The owner's link to the next scheduled stream.</summary>
    public OutputStream? NextScheduled { get; set; }

    /// <summary>Why the stream is to end; null while it lives.</summary>
    public StreamClose? CloseRequested => Volatile.Read(ref _close);

    /// <summary>Whether the stream has ended; it may still be in its owner's queue.</summary>
    public bool IsReleased => Volatile.Read(ref _released) != 0;

    /// <summary>Puts the stream into its owner's queue unless it is there already. Callable from any thread.</summary>
    public void Schedule()
    {
        if (Volatile.Read(ref _queued) == 0 && Interlocked.Exchange(ref _queued, 1) == 0)
            Owner.Schedule(this);
    }

    /// <summary>The owner calls this once the peer knows that the stream is open: turns come from now on.</summary>
    public void Opened()
    {
        if (!_awaitsOpening)
            return;
        _awaitsOpening = false;
        BeginTurn();
        if (CloseRequested is not null)
            Schedule();
    }

    /// <summary>
    /// The owner calls this when it takes the stream from its queue, before it looks what there is to send.
    /// </summary>
    public void BeginTurn() => Interlocked.Exchange(ref _queued, 0);

    /// <summary>
    /// Ends the stream from the broker's side: the owner will send Closed with this reason and release it.
    /// </summary>
    public void RequestClose(StreamClose reason)
    {
        if (Interlocked.CompareExchange(ref _close, reason, null) is not null)
            return;
        Schedule();
        if (reason.Code != ErrorCode.None)
            Owner.OnEnding(this);
    }

    /// <summary>
    /// Takes the stream off its topic, once. Called by the owner's output turn, or after it has ended; never with a
    /// send under way.
    /// </summary>
    public void Release()
    {
        if (Interlocked.Exchange(ref _released, 1) == 0)
            LeaveTopic();
    }

    /// <summary>For a stream that may end as soon as it exists: no turn comes before <see cref="Opened"/>.</summary>
    private protected void HoldTurns()
    {
        _awaitsOpening = true;
        _queued = 1; // As if it were in the queue already.
    }

    private protected abstract void LeaveTopic();
}

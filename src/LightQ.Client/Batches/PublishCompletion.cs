using System.Threading.Tasks.Sources;

namespace LightQ.Client.Batches;

/// <summary>What a caller of PublishAsync awaits; pooled, so that a publish allocates nothing.</summary>
/// <remarks>
/// Two references: the awaiting caller's, gone with GetResult, and the producer's, gone once the outcome was offered.
/// The outcome is whichever comes first of ack, failure and cancellation.
/// </remarks>
internal sealed class PublishCompletion : IValueTaskSource<PublishAck>, IValueTaskSource, IThreadPoolWorkItem
{
    private readonly PublishCompletionPool _pool;
    private ManualResetValueTaskSourceCore<PublishAck> _core;
    private CancellationToken _token;
    private CancellationTokenRegistration _registration;
    private LightQException? _failure;
    private int _claimed;
    private int _references;

    public PublishCompletion(PublishCompletionPool pool) => _pool = pool;

    /// <summary>The next one in the pool, or among the waiters of a batch.</summary>
    public PublishCompletion? Next { get; set; }

    /// <summary>Which record of its batch it waits for.</summary>
    public int Index { get; set; }

    /// <summary>How many records it waits for.</summary>
    public int Count { get; set; }

    /// <summary>Whether the caller gave up already.</summary>
    public bool IsClaimed => Volatile.Read(ref _claimed) != 0;

    public ValueTask<PublishAck> Task => new(this, _core.Version);

    public ValueTask UntypedTask => new(this, _core.Version);

    public void Start(CancellationToken cancellationToken)
    {
        _core.Reset();
        _core.RunContinuationsAsynchronously = false;
        _claimed = 0;
        _failure = null;
        _references = 2;
        (Index, Count) = (0, 1);
        _token = cancellationToken;
        _registration = cancellationToken.CanBeCanceled
            ? cancellationToken.UnsafeRegister(static completion => ((PublishCompletion)completion!).OnCanceled(), this)
            : default;
    }

    /// <summary>Offers success. Runs the caller's continuation.</summary>
    public void Complete(in PublishAck ack)
    {
        if (TryClaim())
            _core.SetResult(ack);
        Release();
    }

    /// <summary>Offers a failure. Runs the caller's continuation.</summary>
    public void Fail(LightQException reason)
    {
        if (TryClaim())
            _core.SetException(reason);
        Release();
    }

    /// <summary>Completes a wait that has no ack, on the thread pool.</summary>
    public void CompleteOnPool() => ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);

    /// <summary>Offers a failure, on the thread pool.</summary>
    public void FailOnPool(LightQException reason)
    {
        _failure = reason;
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    void IThreadPoolWorkItem.Execute()
    {
        if (_failure is null)
            Complete(default);
        else
            Fail(_failure);
    }

    /// <summary>Gives up the producer's reference after the caller gave up its own wait.</summary>
    public void Abandon() => Release();

    public PublishAck GetResult(short token)
    {
        try
        {
            return _core.GetResult(token);
        }
        finally
        {
            Release();
        }
    }

    void IValueTaskSource.GetResult(short token) => GetResult(token);

    public ValueTaskSourceStatus GetStatus(short token) => _core.GetStatus(token);

    public void OnCompleted(
        Action<object?> continuation,
        object? state,
        short token,
        ValueTaskSourceOnCompletedFlags flags
    ) => _core.OnCompleted(continuation, state, token, flags);

    private bool TryClaim()
    {
        if (Interlocked.Exchange(ref _claimed, 1) != 0)
            return false;
        // Waits for a cancellation callback under way, so that none can reach the next user of this object.
        _registration.Dispose();
        return true;
    }

    private void OnCanceled()
    {
        if (Interlocked.Exchange(ref _claimed, 1) != 0)
            return;
        _core.RunContinuationsAsynchronously = true;
        _core.SetException(new OperationCanceledException(_token));
    }

    private void Release()
    {
        if (Interlocked.Decrement(ref _references) != 0)
            return;
        _registration = default;
        _token = default;
        _pool.Return(this);
    }
}

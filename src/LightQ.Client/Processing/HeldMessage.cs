namespace LightQ.Client.Processing;

/// <summary>
/// A message from its delivery until it is settled: renews its lock and reports when the lock is lost.
/// </summary>
/// <remarks>
/// A lock is renewed at half of its time. Its end by this program's clock counts from before a renewal was asked for,
/// so it is never after the broker's, and stands armed while the answer is awaited: a broker that does not answer
/// cannot keep a handler going. The handler's token outlives this object: a cancellation may be under way on another
/// thread when the handler returns, and its source, without a timer or a wait handle, holds nothing but memory.
/// </remarks>
internal sealed class HeldMessage : IDisposable
{
    private readonly TimeProvider _time;
    private readonly TimeSpan _lockDuration;
    private readonly TimeSpan _maxRenewal;
    private readonly Action<Exception> _onCancelFailed;
    private readonly CancellationTokenSource _cancel = new();
    private readonly CancellationTokenRegistration _connectionEnd;
    private readonly Lock _gate = new();
    private readonly ITimer _timer;
    private DateTimeOffset _lockedUntil;
    private DateTimeOffset _renewUntil;
    private bool _isDisposed;
    private bool _isLost;

    /// <summary>Begins to hold a message.</summary>
    /// <param name="message">A message of a group with explicit settlement.</param>
    /// <param name="time">The client's clock.</param>
    /// <param name="maxRenewal">How long to renew its lock, from now and again from <see cref="TryBegin"/>.</param>
    /// <param name="onCancelFailed">Called with what callbacks of the handler's token threw.</param>
    public HeldMessage(in Message message, TimeProvider time, TimeSpan maxRenewal, Action<Exception> onCancelFailed)
    {
        Message = message;
        Token = _cancel.Token;
        (_time, _maxRenewal, _onCancelFailed) = (time, maxRenewal, onCancelFailed);
        DateTimeOffset now = time.GetUtcNow();
        _lockedUntil = message.LockedUntil;
        _lockDuration = message.LockDuration;
        _renewUntil = now + maxRenewal;
        _timer = time.CreateTimer(
            static held => ((HeldMessage)held!).OnTimer(),
            this,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan
        );
        // What it waited for before it came here is gone from its lock.
        Arm(_lockedUntil - (_lockDuration / 2));
        _connectionEnd = message.DeliveryEnded.UnsafeRegister(static held => ((HeldMessage)held!).Lose(), this);
    }

    public Message Message { get; }

    /// <summary>The number of the subscription that brought it.</summary>
    public int Turn { get; init; }

    /// <summary>The lane that orders the message; null for none.</summary>
    public Lane? Lane { get; set; }

    /// <summary>The handler's.</summary>
    public CancellationToken Token { get; }

    /// <summary>Whether the message may be another member's by now.</summary>
    public bool IsLost => Volatile.Read(ref _isLost);

    /// <summary>Its handler is about to begin.</summary>
    /// <returns>False when the lock is lost already: the message is redelivered.</returns>
    public bool TryBegin()
    {
        lock (_gate)
        {
            DateTimeOffset now = _time.GetUtcNow();
            if (_isLost || now >= _lockedUntil)
                return false;
            // Its time for renewals may have been over while it waited; now it has a new one.
            if (now >= _renewUntil && _maxRenewal > TimeSpan.Zero)
                Arm(now);
            _renewUntil = now + _maxRenewal;
            return true;
        }
    }

    /// <summary>Cancels the handler's token.</summary>
    public void Cancel()
    {
        try
        {
            _cancel.Cancel();
        }
        catch (AggregateException e)
        {
            // What the handler registered with its token threw: not this thread's to fail of.
            _onCancelFailed(e);
        }
    }

    /// <summary>The message is settled, or no longer this member's: its lock is not renewed.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            if (_isDisposed)
                return;
            _isDisposed = true;
        }
        _connectionEnd.Unregister();
        _timer.Dispose();
    }

    private void OnTimer()
    {
        lock (_gate)
        {
            DateTimeOffset now = _time.GetUtcNow();
            if (_isDisposed || _isLost)
                return;
            if (now < _lockedUntil)
            {
                Arm(_lockedUntil);
                if (now < _renewUntil)
                    _ = RenewAsync(now);
                return;
            }
        }
        Lose();
    }

    private async Task RenewAsync(DateTimeOffset asked)
    {
        try
        {
            if (await Message.RenewLockAsync().ConfigureAwait(false) == SettleOutcome.Done)
            {
                lock (_gate)
                {
                    _lockedUntil = asked + _lockDuration;
                    Arm(asked + (_lockDuration / 2));
                }
                return;
            }
        }
        catch (LightQException)
        {
            // The connection ended, and the lock with it.
        }
        Lose();
    }

    private void Lose()
    {
        lock (_gate)
        {
            if (_isLost || _isDisposed)
                return;
            _isLost = true;
        }
        Cancel();
    }

    /// <summary>Called under the gate, or before other threads know this object.</summary>
    private void Arm(DateTimeOffset at)
    {
        if (_isDisposed)
            return;
        TimeSpan left = at - _time.GetUtcNow();
        _timer.Change(left > TimeSpan.Zero ? left : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
    }
}

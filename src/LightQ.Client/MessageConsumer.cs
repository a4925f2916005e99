namespace LightQ.Client;

/// <summary>
/// A subscription that is asked for messages, some at a time. Made by <see cref="LightQClient.CreateConsumer"/>; keep
/// it, do not make one per fetch.
/// </summary>
/// <remarks>
/// The first fetch opens the subscription; it stays open between fetches, and the broker goes on delivering as far as
/// credit and <see cref="ConsumeOptions.MaxInFlight"/> allow, so most fetches find their messages here. With explicit
/// settlement in a group the locks of such messages run meanwhile: one whose lock has run out before it is fetched is
/// left out, since it comes again. So keep <see cref="ConsumeOptions.MaxInFlight"/> near what a fetch takes. One fetch
/// at a time. An error ends the subscription, and the next fetch opens another.
/// </remarks>
/// <example>
/// <code>
/// await using MessageConsumer consumer = client.CreateConsumer("orders", new() { Group = "billing", SettleMode = SettleMode.Explicit, MaxInFlight = 200 });
/// IReadOnlyList&lt;Message&gt; orders = await consumer.FetchAsync(100, TimeSpan.FromSeconds(5));
/// </code>
/// </example>
public sealed class MessageConsumer : IAsyncDisposable
{
    /// <summary>Timers cannot wait for two months; who asks for more means for ever.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromDays(49);

    private readonly IAsyncEnumerable<Message> _stream;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _closing = new();
    private IAsyncEnumerator<Message>? _messages;
    private Task<bool>? _next;
    private int _isBusy;
    private bool _isDisposed;

    internal MessageConsumer(IAsyncEnumerable<Message> stream, TimeProvider time) => (_stream, _time) = (stream, time);

    /// <summary>Takes messages: those that are here already, or else the first that come.</summary>
    /// <param name="maxMessages">How many at most, 1 or more.</param>
    /// <param name="maxWait">
    /// How long to wait for the first. Zero: not at all, which finds something only once an earlier fetch has opened
    /// the subscription.
    /// </param>
    /// <param name="fillWait">How long to wait for more once the first is there. Default: not at all.</param>
    /// <param name="cancellationToken">
    /// Ends the wait: with what was taken by then, or an <see cref="OperationCanceledException"/> when nothing was.
    /// Nothing is lost by it.
    /// </param>
    /// <returns>
    /// The messages in the order of their offsets within a partition; none when none came in time. They are copies of
    /// their own, and may be kept.
    /// </returns>
    /// <exception cref="InvalidOperationException">Another fetch is under way.</exception>
    /// <exception cref="LightQException">
    /// As for <see cref="LightQClient.ConsumeAsync(string, ConsumeOptions?, CancellationToken)"/>; what was taken
    /// before the error came is returned first.
    /// </exception>
    public async Task<IReadOnlyList<Message>> FetchAsync(
        int maxMessages,
        TimeSpan maxWait,
        TimeSpan fillWait = default,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(maxMessages, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(maxWait, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThan(fillWait, TimeSpan.Zero);
        cancellationToken.ThrowIfCancellationRequested();
        Enter();
        try
        {
            return await FetchCoreAsync(maxMessages, maxWait, fillWait, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            Volatile.Write(ref _isBusy, 0);
        }
    }

    /// <summary>
    /// Closes the subscription. What a group's member had been delivered and has not settled goes to others.
    /// </summary>
    /// <exception cref="InvalidOperationException">A fetch is under way.</exception>
    public async ValueTask DisposeAsync()
    {
        if (_isDisposed)
            return;
        Enter();
        _isDisposed = true;
        await _closing.CancelAsync().ConfigureAwait(false);
        await CloseAsync().ConfigureAwait(false);
        _closing.Dispose();
    }

    private void Enter()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (Interlocked.Exchange(ref _isBusy, 1) != 0)
            throw new InvalidOperationException("A fetch is under way; a consumer has one at a time.");
    }

    private async Task<List<Message>> FetchCoreAsync(
        int maxMessages,
        TimeSpan maxWait,
        TimeSpan fillWait,
        CancellationToken cancellationToken
    )
    {
        List<Message> messages = [];
        long began = _time.GetTimestamp();
        TimeSpan patience = maxWait;
        while (messages.Count < maxMessages)
        {
            _messages ??= _stream.GetAsyncEnumerator(_closing.Token);
            _next ??= _messages.MoveNextAsync().AsTask();
            if (
                !_next.IsCompleted
                && !await WaitAsync(_next, patience - _time.GetElapsedTime(began), cancellationToken)
                    .ConfigureAwait(false)
            )
            {
                if (messages.Count == 0)
                    cancellationToken.ThrowIfCancellationRequested();
                break;
            }
            if (_next.IsFaulted && messages.Count > 0)
                break;
            if (await TakeAsync(messages).ConfigureAwait(false) && messages.Count == 1)
                (began, patience) = (_time.GetTimestamp(), fillWait);
        }
        return messages;
    }

    /// <summary>Takes the message that has come.</summary>
    /// <returns>False when its lock has run out.</returns>
    private async Task<bool> TakeAsync(List<Message> messages)
    {
        try
        {
            await _next!.ConfigureAwait(false);
        }
        catch
        {
            await CloseAsync().ConfigureAwait(false);
            throw;
        }
        _next = null;
        Message message = _messages!.Current;
        if (message.DeliveryCount != 0 && message.LockedUntil <= _time.GetUtcNow())
            return false;
        messages.Add(message.ToOwned());
        return true;
    }

    /// <returns>False when the time was over, or the wait cancelled, first.</returns>
    private async Task<bool> WaitAsync(Task<bool> next, TimeSpan patience, CancellationToken cancellationToken)
    {
        if (patience <= TimeSpan.Zero)
            return false;
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task over = Task.Delay(patience < LongestWait ? patience : Timeout.InfiniteTimeSpan, _time, waiting.Token);
        bool isThere = await Task.WhenAny(next, over).ConfigureAwait(false) == next;
        await waiting.CancelAsync().ConfigureAwait(false);
        return isThere;
    }

    /// <summary>Lets go of the subscription, once its step is over: it may be just being opened.</summary>
    private async Task CloseAsync()
    {
        if (_messages is null)
            return;
        if (_next is not null)
            await Task.WhenAny(_next).ConfigureAwait(false);
        _ = _next?.Exception;
        await _messages.DisposeAsync().ConfigureAwait(false);
        (_messages, _next) = (null, null);
    }
}

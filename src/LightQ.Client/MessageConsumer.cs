using LightQ.Client.Consuming;

namespace LightQ.Client;

/// <summary>
/// A subscription from which the caller fetches messages, some at a time. Created by
/// <see cref="LightQClient.CreateConsumer"/>; keep it, do not create one per fetch.
/// </summary>
/// <remarks>
/// The first fetch opens the subscription, which stays open between fetches. Meanwhile the broker goes on delivering,
/// in a group with explicit settlement about as much as a fetch asks for. So most fetches find their messages in this
/// program already. The locks of what a fetch returned are renewed until the next one, for
/// <see cref="ConsumeOptions.MaxLockRenewal"/> at most. If nothing is fetched or settled for the time of a lock, what
/// waits goes to other members. One fetch at a time. An error ends the subscription, and the next fetch opens another.
/// </remarks>
/// <example>
/// <code>
/// await using MessageConsumer consumer = client.CreateConsumer("orders", new() { Group = "billing", SettleMode = SettleMode.Explicit });
/// IReadOnlyList&lt;Message&gt; orders = await consumer.FetchAsync(100, TimeSpan.FromSeconds(5));
/// </code>
/// </example>
public sealed class MessageConsumer : IAsyncDisposable
{
    /// <summary>Timers cannot wait for two months; who asks for more means for ever.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromDays(49);

    private readonly IAsyncEnumerable<Message> _stream;
    private readonly InFlightWindow _window;
    private readonly TimeProvider _time;
    private readonly TimeSpan _maxLockRenewal;
    private readonly CancellationTokenSource _closing = new();
    private List<Message> _returned = [];
    private IAsyncEnumerator<Message>? _messages;
    private Task<bool>? _next;
    private DeliveryLock _last = DeliveryLock.None;
    private int _isBusy;
    private bool _isDisposed;

    internal MessageConsumer(
        IAsyncEnumerable<Message> stream,
        InFlightWindow window,
        TimeProvider time,
        TimeSpan maxLockRenewal
    ) => (_stream, _window, _time, _maxLockRenewal) = (stream, window, time, maxLockRenewal);

    /// <summary>Fetches messages: those that have arrived already, or else the first that arrive.</summary>
    /// <param name="maxMessages">How many at most, 1 or more.</param>
    /// <param name="maxWait">
    /// How long to wait for the first. Zero: not at all; then only a fetch after the first can find messages, because
    /// the first opens the subscription.
    /// </param>
    /// <param name="fillWait">How long to wait for more once the first has arrived. Default: not at all.</param>
    /// <param name="cancellationToken">
    /// Ends the wait. The fetch then returns the messages taken so far, or throws an
    /// <see cref="OperationCanceledException"/> when there are none. No message is lost.
    /// </param>
    /// <returns>
    /// The messages, in the order of their offsets within a partition; none when none arrived in time.
    /// </returns>
    /// <exception cref="InvalidOperationException">Another fetch is under way.</exception>
    /// <exception cref="LightQException">
    /// As for <see cref="LightQClient.ConsumeAsync(string, ConsumeOptions?, CancellationToken)"/>. Messages that were
    /// taken before the error are returned first.
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
    /// Closes the subscription. Messages that were delivered to this member of a group and not settled are redelivered
    /// to other members. Of those that the last fetch returned, the first that is not settled counts as abandoned.
    /// </summary>
    /// <exception cref="InvalidOperationException">A fetch is under way.</exception>
    public async ValueTask DisposeAsync()
    {
        if (_isDisposed)
            return;
        Enter();
        _isDisposed = true;
        // The first may be why: without a count, one that cannot be worked on would come for ever.
        foreach (Message message in _returned)
        {
            if (message.DeliveryLock.TryAbandon(message.Offset))
                break;
        }
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
        _returned = [];
        _window.Fetch(maxMessages);
        List<Message> messages = [];
        _last.AskForMore();
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
        messages.RemoveAll(static m => !m.DeliveryLock.IsHeld); // Its lock ran out while the fetch was being filled.
        await BeginAsync(messages).ConfigureAwait(false);
        _returned = messages;
        return messages;
    }

    /// <summary>What is fetched is begun. Leaves out what is no longer this consumer's.</summary>
    private async Task BeginAsync(List<Message> messages)
    {
        for (int at = 0; at < messages.Count; )
        {
            (DeliveryLock delivery, long first) = (messages[at].DeliveryLock, messages[at].Offset);
            int count = 1;
            while (
                at + count < messages.Count
                && messages[at + count].Offset == first + count
                && messages[at + count].DeliveryLock == delivery
            )
            {
                count++;
            }

            if (!delivery.MustAsk)
            {
                delivery.TellBegun(first, count);
            }
            else if (!await delivery.AskAsync(first, count).ConfigureAwait(false))
            {
                messages.RemoveRange(at, count);
                continue;
            }
            at += count;
            _last = delivery;
        }
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
        if (!message.DeliveryLock.TryExtend(_maxLockRenewal))
            return false;
        messages.Add(message);
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

using System.Diagnostics;
using LightQ.Client.Connections;
using LightQ.Client.Consuming;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Processing;

/// <summary>
/// A message from its delivery until it is settled: its lock is renewed, and its loss ends the handler.
/// </summary>
/// <remarks>
/// The handler's token outlives this object: a cancellation may be under way on another thread when the handler
/// returns, and its source, without a timer or a wait handle, holds nothing but memory.
/// </remarks>
internal sealed class HeldMessage : ILockHolder, IDisposable
{
    private readonly TimeSpan _maxRenewal;
    private readonly Action<Exception> _onCancelFailed;
    private readonly CancellationTokenSource _cancel = new();
    private int _isOver;
    private bool _isLost;

    /// <summary>Begins to hold a message.</summary>
    /// <param name="message">A message of a group with explicit settlement.</param>
    /// <param name="maxRenewal">How long to renew its lock, from now and again from <see cref="TryBegin"/>.</param>
    /// <param name="onCancelFailed">Called with what callbacks of the handler's token threw.</param>
    public HeldMessage(in Message message, TimeSpan maxRenewal, Action<Exception> onCancelFailed)
    {
        Message = message;
        Token = _cancel.Token;
        (_maxRenewal, _onCancelFailed) = (maxRenewal, onCancelFailed);
        if (!message.DeliveryLock.TryHold(this, maxRenewal))
            OnLockLost();
    }

    public Message Message { get; }

    /// <summary>The number of the subscription that brought it.</summary>
    public int Turn { get; init; }

    /// <summary>That of its handler; null where nobody listens.</summary>
    public Activity? Span { get; set; }

    /// <summary>The lane that orders the message; null for none.</summary>
    public Lane? Lane { get; set; }

    /// <summary>The handler's.</summary>
    public CancellationToken Token { get; }

    /// <summary>When its handler began, as a timestamp.</summary>
    public long BeganAt { get; set; }

    /// <summary>How long its lock lasts without a renewal.</summary>
    public TimeSpan LockTime => Message.DeliveryLock.Settlements!.LockTime;

    /// <summary>Whether the log says that its handler runs for long.</summary>
    public bool IsSaidLong { get; set; }

    /// <summary>Whether the log says that its lock is renewed no longer.</summary>
    public bool IsSaidStuck { get; set; }

    /// <summary>Its handler is about to begin.</summary>
    /// <returns>False when the lock is lost already: the message is redelivered.</returns>
    public bool TryBegin() => !Volatile.Read(ref _isLost) && Message.DeliveryLock.TryExtend(_maxRenewal);

    /// <summary>Cancels the handler's token; what is registered with it runs on the thread pool.</summary>
    public void Cancel() => _ = CancelAsync();

    public void OnLockLost()
    {
        if (Interlocked.Exchange(ref _isOver, 1) != 0)
            return;
        Volatile.Write(ref _isLost, true);
        Cancel();
    }

    /// <summary>Its handler begins, which the broker learns before that or soon.</summary>
    /// <param name="hand">What the handler works on.</param>
    /// <returns>False when the message is no longer this consumer's.</returns>
    public ValueTask<bool> BeginAsync(InHand hand)
    {
        DeliveryLock delivery = Message.DeliveryLock;
        if (delivery.MustAsk)
            return new ValueTask<bool>(delivery.AskAsync(Message.Offset, 1));
        if (delivery.Settlements is { SaysWhatIsBegun: true } settlements)
            settlements.TakeInHand(hand, delivery.DeliveryId, Message.Offset);
        return new ValueTask<bool>(true);
    }

    /// <summary>
    /// Gives messages back of which no delivery is to count: the lowest offset first, so that none overtakes another.
    /// </summary>
    public static void GiveBack(IReadOnlyCollection<HeldMessage> messages)
    {
        foreach (var together in messages.GroupBy(static held => held.Message.DeliveryLock.Settlements!))
        {
            List<SettleRange> ranges = [];
            foreach (Message message in together.Select(static held => held.Message).OrderBy(static m => m.Offset))
            {
                var one = new SettleRange(SettleKind.Return, message.DeliveryLock.DeliveryId, message.Offset, 1);
                SettleRange last = ranges.Count == 0 ? default : ranges[^1];
                if (last.DeliveryId == one.DeliveryId && last.FirstOffset + last.Count == one.FirstOffset)
                    ranges[^1] = last with { Count = last.Count + 1 };
                else
                    ranges.Add(one);
            }
            foreach (SettleRange[] some in ranges.Chunk(HeldLocks.MostRanges))
                together.Key.GiveBack(some);
        }
        foreach (HeldMessage held in messages)
            held.Dispose();
    }

    /// <summary>The message is settled, or no longer this member's: its lock is not renewed.</summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isOver, 1) == 0)
            Message.DeliveryLock.LetGo(this);
    }

    private async Task CancelAsync()
    {
        try
        {
            await _cancel.CancelAsync().ConfigureAwait(false);
        }
        catch (AggregateException e)
        {
            // What the handler registered with its token threw.
            _onCancelFailed(e);
        }
    }
}

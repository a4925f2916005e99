using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>What a subscription has completed, or begun, and not yet sent.</summary>
/// <remarks>
/// Thread-safe. Most messages are settled one after the other. Such a one only makes two ranges longer, under one spin
/// lock that nobody else wants: what is to be sent, and what the client's own locks have not heard of. Lock order: the
/// locks' gate and the outbox's, then this one, in which nothing is called.
/// </remarks>
internal sealed class PendingSettlements(uint stream, SettleKind kind = SettleKind.Complete)
{
    private SpinLock _gate = new(enableThreadOwnerTracking: false);
    private SettleRange _unsent;
    private SettleRange _unnoted;

    /// <summary>What becomes of the messages.</summary>
    public SettleKind Kind => kind;

    /// <summary>The subscription.</summary>
    public uint Stream => stream;

    /// <summary>
    /// Adds messages that lie behind those that wait, both to be sent and to be noted: the sender knows of those
    /// already. No lock is looked at in between, so a renewal never names what is settled.
    /// </summary>
    /// <returns>False when they do not, with nothing changed.</returns>
    public bool TryExtend(uint deliveryId, long first, uint count)
    {
        bool isMine = false;
        _gate.Enter(ref isMine);
        bool fits = Continues(_unsent, deliveryId, first, count) && Continues(_unnoted, deliveryId, first, count);
        if (fits)
        {
            _unsent = _unsent with { Count = _unsent.Count + count };
            _unnoted = _unnoted with { Count = _unnoted.Count + count };
        }
        _gate.Exit(useMemoryBarrier: false);
        return fits;
    }

    /// <summary>Adds messages that are to be sent.</summary>
    /// <param name="range">The messages.</param>
    /// <param name="before">
    /// What waited until now and must be sent before, since they do not lie behind it; its count is 0 for nothing.
    /// </param>
    /// <returns>Whether nothing waited.</returns>
    public bool Add(in SettleRange range, out SettleRange before)
    {
        before = default;
        bool isMine = false;
        _gate.Enter(ref isMine);
        bool isFirst = _unsent.Count == 0;
        if (Continues(_unsent, range.DeliveryId, range.FirstOffset, range.Count))
            _unsent = _unsent with { Count = _unsent.Count + range.Count };
        else
            (before, _unsent) = (_unsent, range);
        _gate.Exit(useMemoryBarrier: false);
        return isFirst;
    }

    /// <summary>Takes what is to be sent.</summary>
    public SettleRange TakeUnsent() => Take(ref _unsent);

    /// <summary>Takes what the client's own locks have not heard of.</summary>
    public SettleRange TakeUnnoted() => Take(ref _unnoted);

    /// <summary>Sets what the client's own locks have not heard of; what they had not was taken before.</summary>
    public void Note(in SettleRange range)
    {
        bool isMine = false;
        _gate.Enter(ref isMine);
        _unnoted = range;
        _gate.Exit(useMemoryBarrier: false);
    }

    private SettleRange Take(ref SettleRange range)
    {
        bool isMine = false;
        _gate.Enter(ref isMine);
        SettleRange taken = range;
        range = default;
        _gate.Exit(useMemoryBarrier: false);
        return taken;
    }

    private static bool Continues(in SettleRange range, uint deliveryId, long first, uint count) =>
        range.Count != 0
        && range.DeliveryId == deliveryId
        && range.FirstOffset + range.Count == first
        && range.Count + (ulong)count <= uint.MaxValue;
}

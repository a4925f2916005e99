using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>What a subscription has completed, or begun, and not yet sent.</summary>
/// <remarks>
/// Thread-safe. A message that is settled only makes two lists longer, under one spin lock that nobody else wants: what
/// is to be sent, and what the client's own locks have not heard of. Lock order: the locks' gate and the outbox's, then
/// this one, in which nothing is called.
/// </remarks>
/// <param name="stream">The subscription.</param>
/// <param name="kind">What becomes of the messages.</param>
/// <param name="isNoted">Whether somebody takes what is to be noted.</param>
internal sealed class PendingSettlements(uint stream, SettleKind kind = SettleKind.Complete, bool isNoted = false)
{
    /// <summary>
    /// Most ranges in a list. What is settled out of order goes through the other gates, and as a frame, by so many.
    /// </summary>
    public const int Most = 64;

    private SpinLock _gate = new(enableThreadOwnerTracking: false);
    private Ranges _unsent = new();
    private Ranges _unnoted = new();

    /// <summary>What becomes of the messages.</summary>
    public SettleKind Kind => kind;

    /// <summary>The subscription.</summary>
    public uint Stream => stream;

    /// <summary>
    /// Adds messages, both to be sent and to be noted, if there is room and the sender knows of some already. No lock
    /// is looked at in between, so a renewal never names what is settled.
    /// </summary>
    /// <returns>False when not, with nothing changed.</returns>
    public bool TryAdd(uint deliveryId, long first, uint count)
    {
        bool isMine = false;
        _gate.Enter(ref isMine);
        bool fits =
            _unsent.Count != 0
            && _unsent.HasRoom(deliveryId, first, count)
            && (!isNoted || _unnoted.HasRoom(deliveryId, first, count));
        if (fits)
        {
            _unsent.Add(deliveryId, first, count);
            if (isNoted)
                _unnoted.Add(deliveryId, first, count);
        }
        _gate.Exit(useMemoryBarrier: false);
        return fits;
    }

    /// <summary>Adds messages that are to be sent.</summary>
    /// <param name="deliveryId">Their delivery.</param>
    /// <param name="first">The first.</param>
    /// <param name="count">How many.</param>
    /// <param name="isFirst">Whether nothing waited.</param>
    /// <returns>False when there is no room, with nothing changed.</returns>
    public bool TryAddUnsent(uint deliveryId, long first, uint count, out bool isFirst)
    {
        bool isMine = false;
        _gate.Enter(ref isMine);
        isFirst = _unsent.Count == 0;
        bool fits = _unsent.TryAdd(deliveryId, first, count);
        _gate.Exit(useMemoryBarrier: false);
        return fits;
    }

    /// <summary>Adds messages of which the client's own locks have not heard.</summary>
    /// <returns>False when there is no room, with nothing changed.</returns>
    public bool TryNote(uint deliveryId, long first, uint count)
    {
        if (!isNoted)
            return true;
        bool isMine = false;
        _gate.Enter(ref isMine);
        bool fits = _unnoted.TryAdd(deliveryId, first, count);
        _gate.Exit(useMemoryBarrier: false);
        return fits;
    }

    /// <summary>Takes what is to be sent.</summary>
    /// <param name="taken">Room for <see cref="Most"/>.</param>
    /// <returns>How many ranges.</returns>
    public int TakeUnsent(Span<SettleRange> taken) => Take(ref _unsent, taken);

    /// <summary>Takes what the client's own locks have not heard of.</summary>
    /// <inheritdoc cref="TakeUnsent"/>
    public int TakeUnnoted(Span<SettleRange> taken) => Take(ref _unnoted, taken);

    private int Take(ref Ranges ranges, Span<SettleRange> taken)
    {
        bool isMine = false;
        _gate.Enter(ref isMine);
        int count = ranges.Take(kind, taken);
        _gate.Exit(useMemoryBarrier: false);
        return count;
    }

    private struct Range
    {
        public uint DeliveryId;
        public uint Count;
        public long Next;
    }

    /// <summary>Ranges in the order in which they came. What lies behind the last makes that longer.</summary>
    private struct Ranges()
    {
        // Most subscriptions settle in order.
        private Range[] _items = new Range[1];

        public int Count { get; private set; }

        public readonly bool HasRoom(uint deliveryId, long first, uint count) =>
            Count < _items.Length || Continues(_items[Count - 1], deliveryId, first, count);

        public bool TryAdd(uint deliveryId, long first, uint count)
        {
            if (!HasRoom(deliveryId, first, count))
            {
                if (_items.Length == Most)
                    return false;
                Array.Resize(ref _items, Most);
            }
            Add(deliveryId, first, count);
            return true;
        }

        /// <summary>Adds messages, for which there must be room.</summary>
        public void Add(uint deliveryId, long first, uint count)
        {
            if (Count != 0)
            {
                ref Range last = ref _items[Count - 1];
                if (Continues(last, deliveryId, first, count))
                {
                    last.Count += count;
                    last.Next += count;
                    return;
                }
            }
            _items[Count++] = new Range
            {
                DeliveryId = deliveryId,
                Count = count,
                Next = first + count,
            };
        }

        public int Take(SettleKind kind, Span<SettleRange> taken)
        {
            int count = Count;
            for (int i = 0; i < count; i++)
            {
                Range range = _items[i];
                taken[i] = new SettleRange(kind, range.DeliveryId, range.Next - range.Count, range.Count);
            }
            Count = 0;
            return count;
        }

        private static bool Continues(in Range range, uint deliveryId, long first, uint count) =>
            range.Next == first && range.DeliveryId == deliveryId && range.Count + (ulong)count <= uint.MaxValue;
    }
}

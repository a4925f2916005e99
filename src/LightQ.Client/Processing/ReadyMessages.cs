using System.Collections.Concurrent;
using System.Threading.Channels;

namespace LightQ.Client.Processing;

/// <summary>The messages that wait for a handler, in the order wanted: one whose lane is busy is not ready.</summary>
/// <remarks>
/// Thread-safe. Bounded by what the broker delivers, which is no more than the processor's most in flight for each
/// partition.
/// </remarks>
internal sealed class ReadyMessages(ProcessingOrder ordering)
{
    private readonly Channel<HeldMessage> _ready = Channel.CreateUnbounded<HeldMessage>();
    private readonly Dictionary<LaneKey, Lane> _lanes = [];
    private bool _isClosed;

    /// <summary>Adds a message that has just come.</summary>
    /// <returns>False when it must go back: messages of its lane that lie before it did, or there is no lane.</returns>
    public bool Add(HeldMessage held)
    {
        if (TryGetKey(held.Message, out LaneKey key))
        {
            lock (_lanes)
            {
                if (held.Message.DeliveryLock.IsPassed)
                    return false;
                if (!_isClosed && _lanes.TryGetValue(key, out Lane? lane))
                {
                    held.Lane = lane;
                    lane.Waiting.Enqueue(held);
                    return true;
                }
                held.Lane = new Lane(key);
                if (!_isClosed)
                    _lanes.Add(key, held.Lane);
            }
        }
        return _ready.Writer.TryWrite(held);
    }

    /// <summary>A message was settled: the next one of its lane is ready.</summary>
    public void Leave(HeldMessage held)
    {
        if (held.Lane is not { } lane)
            return;
        HeldMessage? next;
        lock (_lanes)
        {
            bool isCurrent = _lanes.TryGetValue(lane.Key, out Lane? current) && ReferenceEquals(current, lane);
            if (!lane.Waiting.TryDequeue(out next) && isCurrent)
                _lanes.Remove(lane.Key);
        }
        if (next is not null)
            Offer(next);
    }

    /// <summary>Waits for a message to handle.</summary>
    /// <returns>Null when there are to be no more.</returns>
    public async ValueTask<HeldMessage?> TakeAsync()
    {
        try
        {
            // Not WaitToReadAsync: each message would wake all handlers that wait.
            return await _ready.Reader.ReadAsync().ConfigureAwait(false);
        }
        catch (ChannelClosedException)
        {
            return null;
        }
    }

    /// <summary>Gives everything back that waits, where the broker takes it.</summary>
    /// <param name="others">What is to go back besides; what cannot go back stays in here.</param>
    public void GiveBack(ConcurrentQueue<HeldMessage> others)
    {
        // To the end under the lock: what is added behind this must know that it is passed.
        lock (_lanes)
        {
            List<HeldMessage> waiting = [];
            foreach (Lane lane in _lanes.Values)
            {
                while (lane.Waiting.TryDequeue(out HeldMessage? behind))
                    waiting.Add(behind);
            }
            while (_ready.Reader.TryRead(out HeldMessage? ready))
            {
                waiting.Add(ready);
                if (ready.Lane is not null)
                    _lanes.Remove(ready.Lane.Key);
            }
            while (others.TryDequeue(out HeldMessage? other))
                waiting.Add(other);
            foreach (HeldMessage kept in waiting.Where(static held => !held.Message.DeliveryLock.CanGiveBack))
                others.Enqueue(kept);
            HeldMessage.GiveBack([.. waiting.Where(static held => held.Message.DeliveryLock.CanGiveBack)]);
        }
    }

    /// <summary>Hands out no more.</summary>
    public void Close()
    {
        _ready.Writer.TryComplete();
        lock (_lanes)
            _isClosed = true;
    }

    /// <summary>Lets go of what waits.</summary>
    public void Clear()
    {
        while (_ready.Reader.TryRead(out HeldMessage? ready))
            ready.Dispose();
        lock (_lanes)
        {
            foreach (Lane lane in _lanes.Values)
            {
                while (lane.Waiting.TryDequeue(out HeldMessage? waiting))
                    waiting.Dispose();
            }
            _lanes.Clear();
        }
    }

    private void Offer(HeldMessage held)
    {
        if (!_ready.Writer.TryWrite(held))
            held.Dispose();
    }

    private bool TryGetKey(in Message message, out LaneKey key)
    {
        key =
            ordering == ProcessingOrder.Partition
                ? new LaneKey(message.Partition, default)
                : new LaneKey(message.Partition, message.Key);
        return ordering == ProcessingOrder.Partition || (ordering == ProcessingOrder.Key && message.HasKey);
    }
}

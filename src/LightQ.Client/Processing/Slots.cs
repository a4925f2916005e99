using System.Globalization;
using Microsoft.Extensions.Logging;

namespace LightQ.Client.Processing;

/// <summary>
/// The slots of a processor, each of which runs one handler at a time: says of handlers that run for long, and of those
/// that nobody waits for any longer and that keep their slots.
/// </summary>
/// <remarks>
/// Thread-safe. Only its own loop writes a slot. While handlers run, a timer looks at them once in the time of a lock;
/// what is quicker costs two writes.
/// </remarks>
internal sealed class Slots : IDisposable
{
    private readonly HeldMessage?[] _slots;
    private readonly ILogger _logger;
    private readonly TimeProvider _time;
    private readonly string _topic;
    private readonly string _group;
    private readonly TimeSpan _maxRenewal;
    private readonly ITimer _timer;
    private int _isLooking;
    private int _isFull;

    /// <param name="logger">Where it says so.</param>
    /// <param name="time">The client's clock.</param>
    /// <param name="topic">The processor's topic.</param>
    /// <param name="group">Its group.</param>
    /// <param name="options">How many there are, and for how long locks are renewed.</param>
    public Slots(ILogger logger, TimeProvider time, string topic, string group, ProcessorOptions options)
    {
        (_logger, _time, _topic, _group, _maxRenewal) = (logger, time, topic, group, options.MaxLockRenewal);
        _slots = new HeldMessage?[options.MaxConcurrency];
        // On the pool: a logger may block, and the client's own timers must not.
        _timer = time.CreateTimer(
            static slots => ((Slots)slots!).Look(),
            this,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan
        );
    }

    /// <summary>The messages whose handlers run.</summary>
    public IEnumerable<HeldMessage> Running
    {
        get
        {
            for (int i = 0; i < _slots.Length; i++)
            {
                if (Volatile.Read(ref _slots[i]) is { } held)
                    yield return held;
            }
        }
    }

    /// <summary>
    /// Why nothing more can begin: all handlers have run for longer than their messages are locked for. Null while one
    /// may end in time.
    /// </summary>
    public LightQException? Failure
    {
        get
        {
            HeldMessage? longest = null;
            foreach (ref HeldMessage? slot in _slots.AsSpan())
            {
                if (Volatile.Read(ref slot) is not { } held || RanFor(held) < Limit(held))
                    return null;
                if (longest is null || held.BeganAt < longest.BeganAt)
                    longest = held;
            }
            return new LightQException(
                ErrorCode.TimedOut,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"none of the {_slots.Length} handlers has ended in time; the longest has run for "
                        + $"{RanFor(longest!).TotalSeconds:0} s, with partition {longest!.Message.Partition}, offset "
                        + $"{longest.Message.Offset}"
                )
            );
        }
    }

    private int Free => _slots.Length - Running.Count();

    /// <summary>A handler is about to begin in a slot.</summary>
    public void Begin(int slot, HeldMessage held)
    {
        held.BeganAt = _time.GetTimestamp();
        Volatile.Write(ref _slots[slot], held);
        Interlocked.MemoryBarrier(); // Either the look that ends sees the handler, or this thread that it has ended.
        if (Volatile.Read(ref _isLooking) == 0 && Interlocked.Exchange(ref _isLooking, 1) == 0)
            _timer.Change(held.LockTime, Timeout.InfiniteTimeSpan);
    }

    /// <summary>The handler has ended.</summary>
    public void End(int slot)
    {
        Volatile.Write(ref _slots[slot], null);
        Interlocked.MemoryBarrier(); // As above, of what is said when all are taken.
        TellFree();
    }

    public void Dispose() => _timer.Dispose();

    private TimeSpan RanFor(HeldMessage held) => _time.GetElapsedTime(held.BeganAt);

    /// <summary>How long a message is its handler's at least, if its connection lasts.</summary>
    private TimeSpan Limit(HeldMessage held) => _maxRenewal > held.LockTime ? _maxRenewal : held.LockTime;

    private void Look()
    {
        TimeSpan next = TellOverdue();
        if (next == TimeSpan.MaxValue)
        {
            // The next handler begins it again; one that has begun since the look did not.
            Interlocked.Exchange(ref _isLooking, 0);
            next = TellOverdue();
            if (next == TimeSpan.MaxValue || Interlocked.Exchange(ref _isLooking, 1) != 0)
                return;
        }
        try
        {
            _timer.Change(next, Timeout.InfiniteTimeSpan);
        }
        catch (ObjectDisposedException)
        {
            // The processor has stopped meanwhile.
        }
    }

    /// <summary>Says what has become overdue.</summary>
    /// <returns>When something may be next; the longest time for never.</returns>
    private TimeSpan TellOverdue()
    {
        TimeSpan next = TimeSpan.MaxValue;
        for (int i = 0; i < _slots.Length; i++)
        {
            if (Volatile.Read(ref _slots[i]) is not { } held)
                continue;
            TimeSpan ran = RanFor(held);
            if (!held.IsSaidLong && ran >= held.LockTime)
                TellLong(held, ran);
            if (!held.IsSaidStuck && ran >= Limit(held))
                TellStuck(held, i, ran);
            TimeSpan left =
                !held.IsSaidLong ? held.LockTime - ran
                : !held.IsSaidStuck ? Limit(held) - ran
                : TimeSpan.MaxValue;
            next = left < next ? left : next;
            // Others begin beside one that was said to run long, and do not begin the timer again.
            next = held.LockTime < next ? held.LockTime : next;
        }
        if (Failure is { } failure && Interlocked.Exchange(ref _isFull, 1) == 0)
        {
            ClientLog.NoFreeSlot(_logger, _topic, _group, failure.Message);
            if (Failure is null)
                TellFree(); // One has ended meanwhile.
        }
        return next;
    }

    private void TellFree()
    {
        if (Volatile.Read(ref _isFull) != 0 && Interlocked.Exchange(ref _isFull, 0) != 0)
            ClientLog.SlotFree(_logger, _topic, _group);
    }

    private void TellLong(HeldMessage held, TimeSpan ran)
    {
        held.IsSaidLong = true;
        LoggedMessage message = LoggedMessage.Of(held.Message);
        ClientLog.HandlerRunsLong(
            _logger,
            _topic,
            _group,
            ran.TotalSeconds,
            message.Partition,
            message.Offset,
            message.Key,
            message.Id,
            message.Delivery,
            held.LockTime.TotalSeconds,
            _maxRenewal.TotalSeconds
        );
    }

    private void TellStuck(HeldMessage held, int slot, TimeSpan ran)
    {
        held.IsSaidStuck = true;
        LoggedMessage message = LoggedMessage.Of(held.Message);
        ClientLog.SlotTaken(
            _logger,
            _topic,
            _group,
            message.Partition,
            message.Offset,
            message.Key,
            message.Id,
            message.Delivery,
            ran.TotalSeconds,
            slot + 1,
            _slots.Length,
            Free
        );
    }
}

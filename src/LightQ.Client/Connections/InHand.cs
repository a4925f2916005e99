using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>
/// What a loop, or one of a processor's handlers, works on. The broker is told of what is not settled soon, so that the
/// delivery counts if this program dies.
/// </summary>
/// <remarks>
/// The outbox looks now and then, so a message that is settled until then costs no frame, and taking one costs no lock.
/// One thread takes; another may settle or look meanwhile and see a mixture of two messages. Then the broker is told of
/// a message that it does not know by that delivery, and ignores it.
/// </remarks>
internal sealed class InHand
{
    private const long Nothing = -1;
    private PendingSettlements? _begun;
    private Outbox? _outbox;
    private Outbox? _watchedBy;
    private uint _delivery;
    private int _count;
    private long _first = Nothing;
    private long _told = Nothing;
    private int _isWatched;

    /// <summary>Messages are handed to the application. What it had before and has not settled, it still has.</summary>
    /// <param name="outbox">Of the connection that they came on.</param>
    /// <param name="begun">What their subscription has begun.</param>
    /// <param name="delivery">The delivery.</param>
    /// <param name="first">The first.</param>
    /// <param name="count">How many.</param>
    /// <param name="isTold">Whether the broker knows already.</param>
    public void Take(Outbox outbox, PendingSettlements begun, uint delivery, long first, int count, bool isTold = false)
    {
        if (_first != Nothing && _told != _first && !_begun!.TryAdd(_delivery, _first, (uint)_count))
            _outbox!.Settle(_begun!, _delivery, _first, (uint)_count);
        if (_begun != begun)
            (_outbox, _begun) = (outbox, begun);
        (_delivery, _count, _told) = (delivery, count, isTold ? first : Nothing);
        // Before the look at who watches: of both, one sees the other, for the watcher waits until all have written.
        Volatile.Write(ref _first, first);
        if (isTold || (Volatile.Read(ref _isWatched) != 0 && _watchedBy == outbox))
            return;
        (_watchedBy, _isWatched) = (outbox, 1);
        outbox.Watch(this);
    }

    /// <summary>Nothing is in hand any more.</summary>
    public void Clear() => Volatile.Write(ref _first, Nothing);

    /// <summary>Messages are settled, among them perhaps what is in hand.</summary>
    public void OnSettled(long first, long count)
    {
        long begin = Volatile.Read(ref _first);
        if (begin == Nothing || first > begin || first + count <= begin)
            return;
        long left = begin + _count - (first + count);
        if (left <= 0)
        {
            Clear();
            return;
        }
        _count = (int)left;
        Volatile.Write(ref _first, first + count);
    }

    /// <summary>It is not watched any more.</summary>
    /// <param name="by">Who watched.</param>
    public void EndWatch(Outbox by)
    {
        if (_watchedBy == by)
            Volatile.Write(ref _isWatched, 0);
    }

    /// <summary>Gives what the broker is to be told now.</summary>
    /// <param name="by">Who watched until now.</param>
    /// <param name="stream">The subscription.</param>
    /// <param name="range">What is in hand.</param>
    /// <returns>False when there is nothing to tell.</returns>
    public bool TryTell(Outbox by, out uint stream, out SettleRange range)
    {
        (stream, range) = (0, default);
        if (_watchedBy != by)
            return false; // Of a connection that is gone.
        long first = Volatile.Read(ref _first);
        if (first == Nothing || first == _told || _count <= 0)
            return false;
        _told = first;
        (stream, range) = (_begun!.Stream, new SettleRange(_begun.Kind, _delivery, first, (uint)_count));
        return true;
    }
}

using LightQ.Protocol;

namespace LightQ.Client.Publishing;

/// <summary>
/// The bytes a producer may have under way: what waits here, what the broker has not appended, what it has not
/// acknowledged.
/// </summary>
/// <remarks>A mutable struct; guarded by its producer's gate.</remarks>
internal struct PublishBudget
{
    private int _window;
    private long _queued;
    private long _sent;
    private long _unacknowledged;

    /// <summary>
    /// Whether at least half of the window is free, so that a caller that waits for room can write more than one batch.
    /// </summary>
    public readonly bool IsHalfFree => _sent + _queued <= _window / 2 && HasRoom(0);

    /// <summary>Whether a batch of so many bytes may be accepted. One may always be when there is no other.</summary>
    public readonly bool HasRoom(int bytes)
    {
        long inWindow = _sent + _queued,
            inAll = _unacknowledged + _queued;
        return (inWindow == 0 || inWindow + bytes <= _window)
            && (inAll == 0 || inAll + bytes <= ProtocolLimits.UnacknowledgedBytes);
    }

    /// <summary>Whether the broker's window takes a batch of so many bytes now.</summary>
    public readonly bool MaySend(int bytes) => _sent == 0 || _sent + bytes <= _window;

    /// <summary>A stream was opened with this window; nothing is sent on it yet.</summary>
    public void Open(int window)
    {
        _window = window;
        _sent = 0;
    }

    /// <summary>Bytes were accepted; negative when a batch turned out shorter.</summary>
    public void Queue(int bytes) => _queued += bytes;

    /// <summary>A queued batch is being sent.</summary>
    public void Send(int bytes)
    {
        _queued -= bytes;
        _sent += bytes;
        _unacknowledged += bytes;
    }

    /// <summary>A batch that is being sent turned out shorter by so many bytes.</summary>
    public void Shrink(int bytes)
    {
        _sent = Math.Max(0, _sent - bytes);
        _unacknowledged -= bytes;
    }

    /// <summary>A sent batch waits to be sent again.</summary>
    public void Unsend(int bytes)
    {
        _unacknowledged -= bytes;
        _queued += bytes;
    }

    /// <summary>The broker appended bytes.</summary>
    public void Credit(uint bytes) => _sent = Math.Max(0, _sent - bytes);

    /// <summary>A batch was acknowledged or rejected.</summary>
    public void Settle(int bytes) => _unacknowledged -= bytes;

    /// <summary>Nothing that was sent will be credited any more.</summary>
    public void ForgetSent() => _sent = 0;
}

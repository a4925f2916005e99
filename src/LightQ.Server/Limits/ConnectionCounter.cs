using System.Net;

namespace LightQ.Server.Limits;

/// <summary>
/// Counts the open connections of a port, in all and by the <see cref="PeerNetwork"/> they come from. Thread-safe.
/// </summary>
internal sealed class ConnectionCounter
{
    private readonly Lock _lock = new();
    private readonly Dictionary<IPAddress, int> _byAddress = [];
    private int _count;

    /// <summary>How many are open.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Counts a connection, unless there are enough.</summary>
    /// <param name="remote">The peer.</param>
    /// <param name="most">Most connections.</param>
    /// <param name="mostPerAddress">Most connections of this peer's address.</param>
    public Admission TryAdd(EndPoint? remote, int most, int mostPerAddress)
    {
        IPAddress address = PeerNetwork.Of(remote);
        lock (_lock)
        {
            if (_count >= most)
                return Admission.TooMany;
            int ofAddress = _byAddress.GetValueOrDefault(address);
            if (ofAddress >= mostPerAddress)
                return Admission.TooManyOfAddress;
            _byAddress[address] = ofAddress + 1;
            _count++;
            return Admission.Admitted;
        }
    }

    /// <summary>A connection that was counted has ended.</summary>
    public void Remove(EndPoint? remote)
    {
        IPAddress address = PeerNetwork.Of(remote);
        lock (_lock)
        {
            _count--;
            if (--_byAddress[address] == 0)
                _byAddress.Remove(address);
        }
    }
}

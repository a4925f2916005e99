using System.Net;
using LightQ.Server.Limits;
using Microsoft.AspNetCore.Connections;

namespace LightQ.Server.Ports;

/// <summary>
/// The few places beside the limit of a port, on which a client may ask for health and nothing else: a monitor must not
/// take a broker for dead because others have its connections. Thread-safe.
/// </summary>
/// <remarks>
/// A newcomer always gets one. When all are taken, the oldest of the address that has most of them is closed: a monitor
/// asks at once and has its answer by then, and connections that ask for nothing only displace one another.
/// </remarks>
internal sealed class SparePlaces
{
    /// <summary>How many there are.</summary>
    public const int Count = 64;

    private readonly Lock _lock = new();
    private readonly List<(IPAddress Address, ConnectionContext Connection)> _oldestFirst = [];

    /// <summary>Takes a place, for which another connection may have to go.</summary>
    public void Enter(ConnectionContext connection)
    {
        ConnectionContext? displaced = null;
        lock (_lock)
        {
            if (_oldestFirst.Count >= Count)
            {
                IPAddress greediest = _oldestFirst.CountBy(p => p.Address).MaxBy(a => a.Value).Key;
                int oldest = _oldestFirst.FindIndex(p => p.Address.Equals(greediest));
                displaced = _oldestFirst[oldest].Connection;
                _oldestFirst.RemoveAt(oldest);
            }
            _oldestFirst.Add((PeerNetwork.Of(connection.RemoteEndPoint), connection));
        }
        displaced?.Abort(new ConnectionAbortedException("Another connection asks for health."));
    }

    /// <summary>Frees the place of a connection that has ended.</summary>
    public void Leave(ConnectionContext connection)
    {
        lock (_lock)
            _oldestFirst.RemoveAll(p => p.Connection == connection);
    }
}

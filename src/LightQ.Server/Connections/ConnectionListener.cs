using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Scheduling;
using LightQ.Server.Limits;
using LightQ.Server.Tls;
using LightQ.Server.Transport;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Connections;

/// <summary>Accepts connections and looks after them, whatever they speak.</summary>
internal sealed class ConnectionListener : IAsyncDisposable
{
    /// <summary>Most rejected connections that stay open to get the reason; more are closed without a word.</summary>
    private const int MostRefused = 100;

    private readonly Socket _listener = new(SocketType.Stream, ProtocolType.Tcp);
    private readonly ConcurrentDictionary<uint, ClientConnection> _connections = new();
    private readonly DataPlaneBlocks _blocks = new();
    private readonly IConnectionProtocolFactory _protocol;
    private readonly ServerLimits _limits;
    private readonly Shares _admitted;
    private readonly Shares _unwelcomed;
    private readonly ServerTls? _tls;
    private readonly ILogger _logger;
    private readonly TimeProvider _time;
    private readonly HousekeepingSchedule _housekeeping;
    private readonly CancellationTokenSource _closing = new();

    /// <summary>Completes when the last connection is released after accepting has ended.</summary>
    private readonly TaskCompletionSource _emptied = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Task _accepting = Task.CompletedTask;
    private volatile bool _isStopping;
    private int _refused;
    private uint _lastId;

    /// <summary>Binds and listens; <see cref="Start"/> accepts.</summary>
    /// <exception cref="SocketException">The port is in use, or the address is not this machine's.</exception>
    public ConnectionListener(
        IPEndPoint endPoint,
        IConnectionProtocolFactory protocol,
        ServerLimits limits,
        ServerTls? tls,
        TimeProvider time,
        ILogger logger
    )
    {
        _protocol = protocol;
        _limits = limits;
        _admitted = limits.NewShares();
        _unwelcomed = limits.NewShares();
        _tls = tls;
        _time = time;
        _logger = logger;
        if (endPoint.AddressFamily == AddressFamily.InterNetwork)
        {
            _listener.Dispose();
            _listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        }
        try
        {
            UnsentLimit.Set(_listener, limits.DataPlane);
            _listener.Bind(endPoint);
            _listener.Listen(1024);
        }
        catch
        {
            _listener.Dispose();
            throw;
        }
        EndPoint = (IPEndPoint)_listener.LocalEndPoint!;
        _housekeeping = new HousekeepingSchedule(
            time,
            TimeSpan.FromMilliseconds(Math.Min(500, limits.DataPlane.Heartbeat.TotalMilliseconds / 2))
        );
    }

    /// <summary>Where it listens.</summary>
    public IPEndPoint EndPoint { get; }

    /// <summary>The open connections.</summary>
    public IEnumerable<ClientConnection> Connections => _connections.Values;

    /// <summary>How many are open.</summary>
    public int Count => _connections.Count;

    /// <summary>An open connection; null when it has ended.</summary>
    public ClientConnection? Find(uint id) => _connections.GetValueOrDefault(id);

    /// <summary>Leaves the buffers that no connection has to the collector.</summary>
    public void TrimBuffers() => _blocks.Trim();

    /// <summary>
    /// The number of the next connection, which may be a call of the control plane that carries messages.
    /// </summary>
    public uint NextId() => Interlocked.Increment(ref _lastId);

    /// <summary>Begins to accept.</summary>
    public void Start() => _accepting = AcceptAsync();

    /// <summary>Cuts the connections.</summary>
    public void DropAll()
    {
        foreach (ClientConnection connection in _connections.Values)
            connection.Abort();
    }

    /// <summary>The broker's time has changed by a step: clients are told, so that they count on from there.</summary>
    public void TellTime()
    {
        foreach (ClientConnection connection in _connections.Values)
            _housekeeping.Request(connection, TimeSpan.Zero);
    }

    /// <summary>Rights have changed: ends the connections and streams that are no longer allowed.</summary>
    public void Review()
    {
        foreach (ClientConnection connection in _connections.Values)
            connection.Protocol.Review();
    }

    /// <summary>A connection's peer is welcomed, or gone. Called once for each.</summary>
    public void ReleaseAdmission(ClientConnection connection)
    {
        if (connection.IsAdmitted)
            _unwelcomed.Give(PeerNetwork.Of(connection.Remote));
        else
            Interlocked.Decrement(ref _refused);
    }

    /// <summary>Counts a connection for its user too.</summary>
    /// <exception cref="ProtocolException">The user has its share of the connections.</exception>
    public void Join(string user)
    {
        int most = _limits.DataPlane.MaxConnections;
        if (!_admitted.TryJoin(user, most))
        {
            throw Refuse(
                nameof(DataPlaneOptions.MaxConnections),
                most,
                $"{user} is refused: it has its share of the connections"
            );
        }
    }

    /// <summary>A connection has ended. Called once for each.</summary>
    public void Forget(ClientConnection connection)
    {
        _connections.TryRemove(connection.Id, out _);
        _limits.GiveDescriptor(PeerNetwork.Of(connection.Remote));
        if (connection.IsAdmitted)
            _admitted.Give(PeerNetwork.Of(connection.Remote), connection.User);
        if (_isStopping && _connections.IsEmpty)
            _emptied.TrySetResult();
    }

    /// <summary>
    /// Accepts no more, tells the connections, waits for them up to <paramref name="timeout"/>, then cuts them.
    /// </summary>
    public async Task StopAsync(TimeSpan timeout)
    {
        await _closing.CancelAsync().ConfigureAwait(false);
        _listener.Dispose();
        await _accepting.ConfigureAwait(false);
        _isStopping = true;
        foreach (ClientConnection connection in _connections.Values)
        {
            connection.GoAway(timeout);
            connection.Finish();
        }
        if (_connections.IsEmpty)
            _emptied.TrySetResult();
        await _emptied.Task.WaitAsync(timeout, _time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        DropAll();
        await _emptied.Task.ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _housekeeping.DisposeAsync().ConfigureAwait(false);
        await StopAsync(TimeSpan.Zero).ConfigureAwait(false);
        _closing.Dispose();
    }

    private async Task AcceptAsync()
    {
        var acceptor = new SocketAcceptor(_listener, _limits, _time);
        while (await acceptor.AcceptAsync(_closing.Token).ConfigureAwait(false) is { } socket)
            Open(socket);
    }

    private void Open(Socket socket)
    {
        try
        {
            EndPoint? remote = socket.RemoteEndPoint;
            socket.NoDelay = true;
            if (!_limits.TryTakeDescriptor(PeerNetwork.Of(remote)))
            {
                _limits.OnAcceptFailed(EndPoint.Port, $"the address of {remote} has its share of the descriptors");
                socket.Dispose();
                return;
            }
            ProtocolException? refusal = Admit(remote);
            // Do not spend a TLS handshake on a rejected peer; it could not read a plain-text reason.
            if (refusal is not null && (_tls is not null || Volatile.Read(ref _refused) >= MostRefused))
            {
                _limits.GiveDescriptor(PeerNetwork.Of(remote));
                socket.Dispose();
                return;
            }
            Begin(socket, refusal);
        }
        catch (SocketException)
        {
            socket.Dispose(); // The peer has gone already.
        }
    }

    /// <summary>Counts a connection.</summary>
    /// <returns>Null, or why it may not stay.</returns>
    private ProtocolException? Admit(EndPoint? remote)
    {
        DataPlaneOptions limits = _limits.DataPlane;
        IPAddress address = PeerNetwork.Of(remote);
        if (_unwelcomed.TryTake(address, limits.MaxUnauthenticatedConnections) is not Admission.Admitted and var silent)
        {
            return Refuse(
                nameof(DataPlaneOptions.MaxUnauthenticatedConnections),
                limits.MaxUnauthenticatedConnections,
                silent == Admission.TooMany
                    ? $"{remote} is refused: as many connections have not been welcomed yet"
                    : $"{remote} is refused: its address has its share of the connections that were not welcomed yet"
            );
        }
        int ofAddress = limits.MaxConnectionsPerAddress;
        Admission admission = _admitted.TryTake(address, limits.MaxConnections, mostOfSource: ofAddress);
        if (admission == Admission.Admitted)
            return null;
        _unwelcomed.Give(address);
        return admission == Admission.TooManyOfSource && ofAddress != 0
            ? Refuse(
                nameof(DataPlaneOptions.MaxConnectionsPerAddress),
                ofAddress,
                $"{remote} is refused: as many connections are open from its address"
            )
            : Refuse(
                nameof(DataPlaneOptions.MaxConnections),
                limits.MaxConnections,
                admission == Admission.TooMany
                    ? $"{remote} is refused: as many connections are open"
                    : $"{remote} is refused: its address has its share of the connections"
            );
    }

    private ProtocolException Refuse(string setting, int limit, string found) =>
        _limits.Refuse(ErrorCode.ResourceExhausted, setting, limit, found);

    private void Begin(Socket socket, ProtocolException? refusal)
    {
        uint id = NextId();
        if (refusal is not null)
            Interlocked.Increment(ref _refused); // Until its admission is released.
        var connection = new ClientConnection(
            this,
            socket,
            _protocol,
            _limits,
            _blocks,
            _tls,
            id,
            refusal,
            _time,
            _housekeeping,
            _logger
        );
        _housekeeping.Request(connection, connection.FirstLook);
        _connections.TryAdd(id, connection);
        _ = connection.RunAsync();
    }
}

using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using LightQ.Broker;
using LightQ.Server.Security;
using LightQ.Server.Tls;
using LightQ.Storage;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.DataPlane;

/// <summary>Accepts data-plane connections and looks after them.</summary>
internal sealed class DataListener : IAsyncDisposable
{
    private static readonly TimeSpan AcceptRetry = TimeSpan.FromMilliseconds(100);
    private readonly Socket _listener = new(SocketType.Stream, ProtocolType.Tcp);
    private readonly ConcurrentDictionary<uint, DataConnection> _connections = new();
    private readonly DataPlaneBlocks _blocks = new();
    private readonly LightQBroker _broker;
    private readonly ServerSecurity _security;
    private readonly DataPlaneOptions _options;
    private readonly ServerTls? _tls;
    private readonly ILogger _logger;
    private readonly TimeProvider _time;
    private readonly HousekeepingSchedule _housekeeping;
    private Task _accepting = Task.CompletedTask;
    private uint _lastId;

    /// <summary>Binds and listens; <see cref="Start"/> accepts.</summary>
    /// <exception cref="SocketException">The port is in use, or the address is not this machine's.</exception>
    public DataListener(IPEndPoint endPoint, LightQBroker broker, ServerSecurity security, DataPlaneOptions options, ServerTls? tls, TimeProvider time, ILogger logger)
    {
        _broker = broker;
        _security = security;
        _options = options;
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
            _listener.Bind(endPoint);
            _listener.Listen(1024);
        }
        catch
        {
            _listener.Dispose();
            throw;
        }
        EndPoint = (IPEndPoint)_listener.LocalEndPoint!;
        _housekeeping = new HousekeepingSchedule(time, TimeSpan.FromMilliseconds(Math.Min(500, options.Heartbeat.TotalMilliseconds / 2)));
    }

    /// <summary>Where it listens.</summary>
    public IPEndPoint EndPoint { get; }

    /// <summary>The open connections.</summary>
    public IEnumerable<DataConnection> Connections => _connections.Values;

    /// <summary>How many are open.</summary>
    public int Count => _connections.Count;

    /// <summary>The number of the next connection, which may be a call of the control plane that carries messages.</summary>
    public uint NextId() => Interlocked.Increment(ref _lastId);

    /// <summary>Begins to accept.</summary>
    public void Start() => _accepting = AcceptAsync();

    /// <summary>Cuts the connections.</summary>
    public void DropAll()
    {
        foreach (DataConnection connection in _connections.Values)
            connection.Abort();
    }

    /// <summary>Ends what may not go on, after somebody's rights have changed.</summary>
    public void Review()
    {
        foreach (DataConnection connection in _connections.Values)
            connection.Session.Review();
    }

    /// <summary>Accepts no more, tells the connections, waits for them up to <paramref name="timeout"/>, then cuts them.</summary>
    public async Task StopAsync(TimeSpan timeout)
    {
        _listener.Dispose();
        await _accepting.ConfigureAwait(false);
        foreach (DataConnection connection in _connections.Values)
        {
            connection.GoAway(timeout);
            connection.Finish();
        }
        Task all = Task.WhenAll(_connections.Values.Select(c => c.Ended));
        await all.WaitAsync(timeout, _time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!all.IsCompleted)
        {
            foreach (DataConnection connection in _connections.Values)
                connection.Abort();
            await Task.WhenAll(_connections.Values.Select(c => c.Ended)).ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _housekeeping.DisposeAsync().ConfigureAwait(false);
        await StopAsync(TimeSpan.Zero).ConfigureAwait(false);
    }

    private async Task AcceptAsync()
    {
        while (true)
        {
            try
            {
                Socket socket = await _listener.AcceptAsync().ConfigureAwait(false);
                Open(socket);
            }
            catch (Exception e) when (e is ObjectDisposedException or SocketException { SocketErrorCode: SocketError.OperationAborted })
            {
                return;
            }
            catch (SocketException e)
            {
                DataPlaneLog.AcceptFailed(_logger, e.Message, AcceptRetry.TotalMilliseconds);
                await Task.Delay(AcceptRetry, _time).ConfigureAwait(false);
            }
        }
    }

    private void Open(Socket socket)
    {
        try
        {
            if (_connections.Count >= _options.MaxConnections)
            {
                DataPlaneLog.TooMany(_logger, socket.RemoteEndPoint, _options.MaxConnections);
                socket.Dispose();
                return;
            }
            socket.NoDelay = true;
            Begin(socket);
        }
        catch (SocketException)
        {
            socket.Dispose(); // The peer has gone already.
        }
    }

    private void Begin(Socket socket)
    {
        uint id = NextId();
        var connection = new DataConnection(socket, _broker, _security, _options, _blocks, _tls, id, _time, _housekeeping, _logger);
        _housekeeping.Request(connection, connection.FirstLook);
        _connections.TryAdd(id, connection);
        _ = connection.RunAsync();
        _ = connection.Ended.ContinueWith(
            (_, _) => _connections.TryRemove(id, out DataConnection? _), null, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
    }
}

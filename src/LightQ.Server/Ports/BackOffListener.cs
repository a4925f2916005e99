using System.Buffers;
using System.Net;
using System.Net.Sockets;
using LightQ.Server.Limits;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Ports;

/// <summary>
/// Kestrel's sockets on listeners that are bound already, with an accept loop that waits when accepting fails:
/// Kestrel's own tries again at once, which without descriptors takes a whole core.
/// </summary>
/// <remarks>
/// What serves a connection gets Kestrel's own memory pool, as from Kestrel's own listener. The pool of a context
/// factory made here, <see cref="MemoryPool{T}.Shared"/>, has a buffer without a byte for code that names no size: that
/// is what HTTP/2 would give a response's writer after the client has reset its stream, and a serializer that asks for
/// room until its message is written would ask for ever.
/// </remarks>
internal sealed class BackOffListener : IConnectionListener, IMemoryPoolFeature
{
    /// <summary>
    /// What is received of a connection before anybody reads it: one that calls faster than it may is not read, and all
    /// of an address' connections have it at once.
    /// </summary>
    private const int AheadBytes = 64 * 1024;

    /// <summary>
    /// What is written to a connection, and was not taken by the system, before a flush waits: nobody counts it. A
    /// flush of nothing more than a byte would take small answers one by one to the system.
    /// </summary>
    private const int BehindBytes = 16 * 1024;

    private readonly Socket _socket;
    private readonly SocketAcceptor _acceptor;
    private readonly SocketConnectionContextFactory _contexts;
    private readonly CancellationTokenSource _unbound = new();

    private BackOffListener(
        Socket socket,
        MemoryPool<byte> pool,
        ServerLimits limits,
        TimeProvider time,
        ILogger logger
    )
    {
        MemoryPool = pool;
        _socket = socket;
        _acceptor = new SocketAcceptor(socket, limits, time);
        _contexts = new SocketConnectionContextFactory(
            new SocketConnectionFactoryOptions { MaxReadBufferSize = AheadBytes, MaxWriteBufferSize = BehindBytes },
            logger
        );
        EndPoint = socket.LocalEndPoint!;
    }

    /// <inheritdoc/>
    public EndPoint EndPoint { get; }

    /// <inheritdoc/>
    public MemoryPool<byte> MemoryPool { get; }

    /// <inheritdoc/>
    public async ValueTask<ConnectionContext?> AcceptAsync(CancellationToken cancellationToken = default)
    {
        while (await _acceptor.AcceptAsync(_unbound.Token).ConfigureAwait(false) is { } socket)
        {
            try
            {
                socket.NoDelay = true;
                ConnectionContext connection = _contexts.Create(socket);
                connection.Features.Set<IMemoryPoolFeature>(this);
                return connection;
            }
            catch (SocketException)
            {
                socket.Dispose(); // The peer has gone already.
            }
        }
        return null;
    }

    /// <inheritdoc/>
    public async ValueTask UnbindAsync(CancellationToken cancellationToken = default)
    {
        await _unbound.CancelAsync().ConfigureAwait(false);
        _socket.Dispose();
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        _socket.Dispose();
        _contexts.Dispose();
        MemoryPool.Dispose();
        _unbound.Dispose();
        return ValueTask.CompletedTask;
    }

    /// <summary>Hands these listeners to Kestrel.</summary>
    internal sealed class Factory(
        Func<EndPoint, Socket> socketOf,
        IMemoryPoolFactory<byte> pools,
        ServerLimits limits,
        TimeProvider time,
        ILogger logger
    ) : IConnectionListenerFactory
    {
        /// <inheritdoc/>
        public ValueTask<IConnectionListener> BindAsync(
            EndPoint endpoint,
            CancellationToken cancellationToken = default
        ) =>
            ValueTask.FromResult<IConnectionListener>(
                new BackOffListener(socketOf(endpoint), pools.Create(), limits, time, logger)
            );
    }
}

using System.Numerics;
using LightQ.Protocol.Frames;
using Microsoft.Extensions.Logging;

namespace LightQ.Client.Connections;

/// <summary>
/// Keeps one client connected: connects when first asked, reconnects with back-off, and resumes every stream.
/// </summary>
/// <remarks>Thread-safe. Lock order: this gate, then a stream's, then an outbox's.</remarks>
internal sealed class BrokerLink : IAsyncDisposable
{
    /// <summary>With the longest delay by default, some minutes.</summary>
    private const int MostAttemptsUntold = 64;

    private readonly Lock _gate = new();
    private readonly List<ClientStream> _streams = [];
    private readonly CancellationTokenSource _closing = new();
    private readonly TaskCompletionSource _attemptFailed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ClientEvents _events;
    private TaskCompletionSource? _connected;
    private Task _running = Task.CompletedTask;
    private Connection? _current;
    private int _failedAttempts;
    private uint _lastMember;
    private ErrorCode? _lastFailure;
    private LightQException? _absence;

    public BrokerLink(LightQClientOptions options, ClientEvents events, ILogger logger)
    {
        Options = options;
        _events = events;
        Logger = logger;
    }

    public LightQClientOptions Options { get; }

    public ILogger Logger { get; }

    public ReceiveBlockPool Blocks { get; } = new();

    /// <summary>
    /// Why the last attempt to connect failed, while another one is to come; null while there is a connection.
    /// </summary>
    public LightQException? Absence => Volatile.Read(ref _absence);

    /// <summary>
    /// Waits for the first connection. Once there was one, returns at once: streams wait for the next one themselves.
    /// </summary>
    /// <exception cref="LightQException">The first attempt failed.</exception>
    public Task ConnectAsync(CancellationToken cancellationToken)
    {
        TaskCompletionSource connected;
        lock (_gate)
        {
            ClientDisposed.ThrowIf(_closing.IsCancellationRequested);
            if (_connected is null)
            {
                _connected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                _running = Task.Run(RunAsync, CancellationToken.None);
            }
            connected = _connected;
        }
        return connected.Task.WaitAsync(cancellationToken);
    }

    /// <summary>
    /// Waits for the first connection, or for the first attempt that failed and is tried again: then
    /// <see cref="Absence"/> says why.
    /// </summary>
    /// <exception cref="LightQException">The first attempt failed, and there is no other.</exception>
    public async Task AttemptAsync(CancellationToken cancellationToken)
    {
        Task connected = ConnectAsync(CancellationToken.None);
        await Task.WhenAny(connected, _attemptFailed.Task).WaitAsync(cancellationToken).ConfigureAwait(false);
        if (connected.IsCompleted)
            await connected.ConfigureAwait(false);
    }

    /// <summary>Asks the broker for an answer and says how long it took.</summary>
    /// <exception cref="LightQException">There is no connection, or it ended before the answer came.</exception>
    public async Task<TimeSpan> PingAsync(CancellationToken cancellationToken)
    {
        await ConnectAsync(cancellationToken).ConfigureAwait(false);
        Connection? current;
        lock (_gate)
            current = _current;
        return current is not null
            ? await current.PingAsync(cancellationToken).ConfigureAwait(false)
            : throw new LightQException(ErrorCode.Unavailable, $"There is no connection to {Options} at the moment.");
    }

    /// <summary>Opens a stream now or as soon as there is a connection, and again on every later one.</summary>
    public void Attach(ClientStream stream)
    {
        lock (_gate)
        {
            ClientDisposed.ThrowIf(_closing.IsCancellationRequested);
            _streams.Add(stream);
            if (_current is not null)
                stream.Open(_current);
        }
    }

    /// <summary>Opens an attached stream once more after a while, if it is still attached and connected then.</summary>
    /// <param name="stream">The stream.</param>
    /// <param name="connection">The connection that it is opened on.</param>
    /// <param name="code">Why the broker has closed it.</param>
    public void ReopenLater(ClientStream stream, Connection connection, ErrorCode code) =>
        _ = ReopenAsync(
            stream,
            connection,
            code == ErrorCode.NotLeader
                ? ElectionDelay(Random.Shared.NextDouble())
                : Delay(Options, 3, Random.Shared.NextDouble())
        );

    /// <summary>
    /// A number for a consumer of several streams, by which the broker knows that they belong together.
    /// </summary>
    public uint NextMember() => Interlocked.Increment(ref _lastMember);

    /// <summary>Forgets a stream.</summary>
    public void Detach(ClientStream stream)
    {
        lock (_gate)
            _streams.Remove(stream);
    }

    public async ValueTask DisposeAsync()
    {
        Task running;
        lock (_gate)
        {
            if (_closing.IsCancellationRequested)
                return;
            running = _running;
            _closing.Cancel();
            _current?.Fail(ClosedByClient());
        }
        await running.ConfigureAwait(false);
        // Before the streams: whoever hears of their end finds the client closed, and does not try again.
        _events.OnState(ConnectionState.Closed, null);
        CloseStreams(ClosedByClient());
    }

    internal static LightQException ClosedByClient() => new(ErrorCode.Closed, "The client was disposed.");

    /// <summary>Full jitter: a random part of an upper bound that doubles with every attempt.</summary>
    internal static TimeSpan Delay(LightQClientOptions options, int attempt, double random)
    {
        double bound = Math.Min(
            options.MaxReconnectDelay.TotalMilliseconds,
            options.ReconnectDelay.TotalMilliseconds * Math.Pow(2, Math.Min(attempt, 30))
        );
        return TimeSpan.FromMilliseconds(bound * random);
    }

    /// <summary>50 to 500 ms: about as long as a partition is without a leader, spread out over the clients.</summary>
    internal static TimeSpan ElectionDelay(double random) => TimeSpan.FromMilliseconds(50 + (450 * random));

    private async Task RunAsync()
    {
        bool first = true;
        _events.OnState(ConnectionState.Connecting, null);
        while (!_closing.IsCancellationRequested)
        {
            Connection connection;
            try
            {
                connection = await ConnectOnceAsync().ConfigureAwait(false);
            }
            catch (LightQException e) when (!_closing.IsCancellationRequested)
            {
                // Who is refused as somebody else, or may not say who it is, will be refused again: waiting helps only
                // where nobody answers.
                if (e.Code is ErrorCode.Unauthenticated or ErrorCode.TlsRequired || (first && !Options.WaitForBroker))
                {
                    GiveUp(e);
                    return;
                }
                await DelayAsync(e).ConfigureAwait(false);
                continue;
            }
            catch (LightQException)
            {
                break;
            }
            first = false;
            (_failedAttempts, _lastFailure) = (0, null);
            Begin(connection);
            LightQException reason = await connection.Ended.ConfigureAwait(false);
            End(reason);
            if (_closing.IsCancellationRequested)
                break;
            // A token that counts no more never does again. A user and password may: of a user that was made anew, or
            // whose password was set to what it was.
            if (reason.Code == ErrorCode.Unauthenticated && Options.Token is not null)
            {
                GiveUp(reason);
                return;
            }
            ClientLog.Lost(Logger, Options.ToString(), reason.Code, reason.Message);
            _events.OnState(ConnectionState.Reconnecting, reason);
        }
        _connected!.TrySetException(ClosedByClient());
        _ = _connected.Task.Exception;
    }

    private async Task<Connection> ConnectOnceAsync()
    {
        Connection connection =
            Options.ReceiveMode == ReceiveMode.Thread
                ? new BlockingConnection(Options, Options.ToHello(), Blocks, _events)
                : new AsyncConnection(Options, Options.ToHello(), Blocks, _events);
        connection.Start();
        try
        {
            WelcomeFrame welcome = await connection
                .Welcomed.WaitAsync(Options.ConnectTimeout, Options.ConnectionTime, _closing.Token)
                .ConfigureAwait(false);
            ClientLog.Connected(Logger, Options.ToString(), welcome.ConnectionId);
            return connection;
        }
        catch (TimeoutException e)
        {
            var reason = new LightQException(
                ErrorCode.Unavailable,
                $"No broker answered at {Options} within {Options.ConnectTimeout.TotalSeconds:0.###} s.",
                e
            );
            connection.Fail(reason);
            throw reason;
        }
        catch (OperationCanceledException)
        {
            LightQException reason = ClosedByClient();
            connection.Fail(reason);
            throw reason;
        }
    }

    private void Begin(Connection connection)
    {
        lock (_gate)
        {
            _current = connection;
            foreach (ClientStream stream in _streams)
                stream.Open(connection);
            if (_closing.IsCancellationRequested)
                connection.Fail(ClosedByClient());
        }
        Volatile.Write(ref _absence, null);
        _events.OnState(ConnectionState.Connected, null);
        _connected!.TrySetResult();
    }

    private void End(LightQException reason)
    {
        lock (_gate)
        {
            _current = null;
            foreach (ClientStream stream in _streams)
                stream.OnDisconnected(reason);
        }
    }

    private void GiveUp(LightQException reason)
    {
        CloseStreams(reason);
        TaskCompletionSource connected;
        lock (_gate)
        {
            connected = _connected!;
            _connected = null;
        }
        Volatile.Write(ref _absence, null);
        _events.OnState(ConnectionState.Disconnected, reason);
        connected.TrySetException(reason);
    }

    private async Task DelayAsync(LightQException reason)
    {
        TimeSpan delay = Delay(Options, _failedAttempts++, Random.Shared.NextDouble());
        // At first, then less and less often; and of every other reason.
        if (
            reason.Code != _lastFailure
            || BitOperations.IsPow2(_failedAttempts)
            || _failedAttempts % MostAttemptsUntold == 0
        )
        {
            ClientLog.AttemptFailed(Logger, Options.ToString(), reason.Code, reason.Message, delay.TotalMilliseconds);
        }
        // A broker that is not there may come; one that refuses is what somebody has to know.
        if (reason.Code != ErrorCode.Unavailable && reason.Code != _lastFailure)
            _events.OnState(_events.State, reason);
        _lastFailure = reason.Code;
        Volatile.Write(ref _absence, reason);
        _attemptFailed.TrySetResult();
        await Task.Delay(delay, Options.ConnectionTime, _closing.Token)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private async Task ReopenAsync(ClientStream stream, Connection connection, TimeSpan delay)
    {
        // Yields even without a delay: the caller holds its stream's gate, which comes after this one.
        await Task.Delay(delay, Options.ConnectionTime, _closing.Token)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ForceYielding);
        lock (_gate)
        {
            if (_current == connection && _streams.Contains(stream) && !_closing.IsCancellationRequested)
                stream.Open(connection);
        }
    }

    private void CloseStreams(LightQException reason)
    {
        ClientStream[] streams;
        lock (_gate)
        {
            streams = [.. _streams];
            _streams.Clear();
        }
        foreach (ClientStream stream in streams)
            stream.OnClosed(reason);
    }
}

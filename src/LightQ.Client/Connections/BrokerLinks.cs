using System.Numerics;
using System.Runtime.CompilerServices;
using LightQ.Client.Timing;
using LightQ.Protocol.Frames;
using Microsoft.Extensions.Logging;

namespace LightQ.Client.Connections;

/// <summary>
/// Keeps one client connected, and each of its streams on the broker that leads the stream's partition: connects when
/// first asked, reconnects with back-off, and resumes every stream.
/// </summary>
/// <remarks>
/// Thread-safe. One connection, the home, is to any of the brokers that are known, and lasts as long as the client.
/// Each stream begins there. A broker that does not lead the stream's partition names the one that does, and
/// the stream moves to a connection of that one. When such a connection breaks, its streams come home.
/// </remarks>
internal sealed class BrokerLinks : IAsyncDisposable
{
    /// <summary>With the longest delay by default, some minutes.</summary>
    private const int MostAttemptsUntold = 64;

    /// <summary>How long a connection to a leader is kept when no stream uses it.</summary>
    internal static readonly TimeSpan IdleTime = TimeSpan.FromSeconds(60);

    /// <summary>How long a connection that is left for another leader may send what it has begun.</summary>
    private static readonly TimeSpan LongestRound = TimeSpan.FromMilliseconds(300);

    /// <summary>How long a client that is disposed waits until what its loops have settled is sent.</summary>
    private static readonly TimeSpan LongestGoodbye = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly BrokerLink _home = new();
    private readonly Dictionary<string, BrokerLink> _nodes = new(StringComparer.OrdinalIgnoreCase);
    private readonly CancellationTokenSource _closing = new();
    private readonly TaskCompletionSource _attemptFailed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ClientEvents _events;
    private readonly ILeaderDirectory _leaders;
    private readonly BrokerConnector _connector;
    private readonly LinkStates _states;
    private readonly ClientThread? _thread;
    private TaskCompletionSource? _connected;
    private int _failedAttempts;
    private uint _lastMember;
    private Task _watching = Task.CompletedTask;
    private bool _isWatching;
    private HashSet<string> _silent = [];
    private ErrorCode? _lastFailure;
    private LightQException? _absence;

    public BrokerLinks(
        LightQClientOptions options,
        KnownBrokers brokers,
        ClientEvents events,
        ILogger logger,
        ILeaderDirectory leaders
    )
    {
        Options = options;
        _events = events;
        _leaders = leaders;
        Logger = logger;
        _connector = new BrokerConnector(options, brokers, events, logger, _closing.Token);
        _states = new LinkStates(events);
        if (options.ReceiveMode == ReceiveMode.Thread)
            _thread = new ClientThread("LightQ links");
    }

    public LightQClientOptions Options { get; }

    public ILogger Logger { get; }

    public ReceiveBlockPool Blocks => _connector.Blocks;

    /// <summary>How many brokers the client knows.</summary>
    public int BrokerCount => _connector.Count;

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
            connected = EnsureRunning();
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

    /// <summary>Asks a broker that the client is connected to for an answer and says how long it took.</summary>
    /// <exception cref="LightQException">There is no connection, or it ended before the answer came.</exception>
    public async Task<TimeSpan> PingAsync(CancellationToken cancellationToken)
    {
        await ConnectAsync(cancellationToken).ConfigureAwait(false);
        Connection? current;
        lock (_gate)
            current = _home.Current ?? _nodes.Values.FirstOrDefault(static n => n.Current is not null)?.Current;
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
            _home.Add(stream);
        }
    }

    /// <summary>
    /// Opens an attached stream once more, if it is still attached and connected then: after a while, or on the broker
    /// that leads its partition. Called under the stream's gate.
    /// </summary>
    /// <param name="stream">The stream.</param>
    /// <param name="connection">The connection that it was closed on.</param>
    /// <param name="closed">Why the broker has closed it.</param>
    /// <param name="isKnown">Whether the cluster's metadata has named the leader.</param>
    public void ReopenLater(ClientStream stream, Connection connection, in ClosedFrame closed, bool isKnown)
    {
        int closing = stream.OnReopening();
        if (closed.Code != ErrorCode.NotLeader)
        {
            _ = RunAsync(() => ReopenAsync(stream, connection, closing));
            return;
        }
        LeaderHint hint = stream.Hints.Take(closed.Epoch, closed.Address);
        _ = RunAsync(() => RelocateAsync(stream, connection, closing, hint, isKnown));
    }

    /// <summary>A producer takes no messages any more, though nobody closed it.</summary>
    public void OnProducerEnded(string topic, string? name, LightQException reason) =>
        _events.OnProducerEnded(topic, name, reason);

    /// <summary>
    /// A number for a consumer of several streams, by which the broker knows that they belong together.
    /// </summary>
    public uint NextMember() => Interlocked.Increment(ref _lastMember);

    /// <summary>Forgets a stream.</summary>
    public void Detach(ClientStream stream)
    {
        lock (_gate)
        {
            if (stream.Link is not { } link)
                return;
            link.Remove(stream);
            LeaveWhenIdle(link);
        }
    }

    /// <summary>The topics of the streams whose partitions have leaders, in order.</summary>
    public string[] LedTopics()
    {
        lock (_gate)
        {
            return
            [
                .. AllLinks()
                    .SelectMany(static link => link.Streams)
                    .Where(static stream => stream.Hints.Newest != 0)
                    .Select(static stream => stream.Topic)
                    .Distinct(StringComparer.Ordinal)
                    .Order(StringComparer.Ordinal),
            ];
        }
    }

    /// <summary>The place of a broker that no stream uses, or else the given place.</summary>
    public int PreferUnused(int first)
    {
        lock (_gate)
        {
            for (int turn = first; turn < first + _connector.Count; turn++)
            {
                LightQClientOptions broker = _connector.Broker(turn);
                if (AllLinks().All(link => link.IsEmpty || !link.IsFor(broker.Host, broker.DataPort)))
                    return turn % _connector.Count;
            }
            return first;
        }
    }

    /// <summary>
    /// Whether a broker that is known answers on the connection that there is to it; true without one.
    /// </summary>
    public async Task<bool> AnswersAsync(int place, TimeSpan patience, CancellationToken cancellationToken)
    {
        LightQClientOptions broker = _connector.Broker(place);
        Connection? current;
        lock (_gate)
            current = Array.Find(AllLinks(), link => link.IsAt(broker.Host, broker.DataPort))?.Current;
        if (current is null)
            return true;
        using var late = new CancellationTokenSource(patience, Options.ConnectionTime);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(late.Token, cancellationToken);
        try
        {
            await current.PingAsync(ending.Token).ConfigureAwait(false);
            return true;
        }
        catch (Exception e) when (e is LightQException or OperationCanceledException)
        {
            return false;
        }
    }

    /// <summary>
    /// Moves streams to leaders that are newer than theirs, and ends the connections to nodes that have become silent.
    /// </summary>
    /// <param name="map">What a node knows.</param>
    /// <param name="isFinal">
    /// Whether streams that are open leave connections that live, too: their brokers have had the time to say it
    /// themselves. Those that wait to be opened again wait for nothing of them.
    /// </param>
    public void Follow(LeaderMap map, bool isFinal)
    {
        lock (_gate)
        {
            if (_closing.IsCancellationRequested)
                return;
            if (!isFinal && map.HearsMost)
                EndSilent(map.Silent);
            foreach (BrokerLink link in AllLinks())
            {
                foreach (ClientStream stream in link.Streams)
                    FollowOne(stream, link, map, isFinal);
            }
        }
    }

    /// <summary>Waits, or until the token ends that.</summary>
    public async Task PauseAsync(TimeSpan delay, CancellationToken cancellationToken) =>
        await ClientTimer.DelayAsync(Options.ConnectionTime, delay, cancellationToken).ConfigureAwait(false);

    public async ValueTask DisposeAsync()
    {
        Task[] running,
            sent;
        lock (_gate)
        {
            if (_closing.IsCancellationRequested)
                return;
            sent = [.. AllLinks().Select(static link => link.Current?.Outbox.SentAsync() ?? Task.CompletedTask)];
        }
        // That loops have ended and what they have settled is still said, if the broker takes it.
        await Task.WhenAny(Task.WhenAll(sent), Task.Delay(LongestGoodbye)).ConfigureAwait(false);
        lock (_gate)
        {
            if (_closing.IsCancellationRequested)
                return;
            running = [_watching, _home.Running, .. _nodes.Values.Select(static n => n.Running)];
            _closing.Cancel();
            _home.Current?.Fail(ClosedByClient());
            foreach (BrokerLink node in _nodes.Values)
                node.Current?.Fail(ClosedByClient());
        }
        await Task.WhenAll(running).ConfigureAwait(false);
        // Before the streams: whoever hears of their end finds the client closed, and does not try again.
        _states.OnHome(ConnectionState.Closed, null, Options);
        CloseStreams(ClosedByClient());
        _thread?.Stop();
    }

    internal static LightQException ClosedByClient() => new(ErrorCode.Closed, "The client was disposed.");

    private BrokerLink[] AllLinks() => [_home, .. _nodes.Values];

    private void EndSilent(HashSet<string> silent)
    {
        foreach (string address in silent)
        {
            if (_silent.Contains(address) || !HostPort.TryParse(address, out string host, out int port))
                continue;
            Array
                .Find(AllLinks(), link => link.IsAt(host, port))
                ?.Current!.Fail(
                    new LightQException(ErrorCode.TimedOut, $"The cluster has not heard of the broker at {address}.")
                );
        }
        _silent = silent;
    }

    private void FollowOne(ClientStream stream, BrokerLink link, LeaderMap map, bool isFinal)
    {
        if (
            stream.LedPartition is not { } partition
            || !map.TryFind(stream.Topic, partition, out KnownLeader leader)
            || leader.Epoch <= stream.Hints.Newest
            || link.IsFor(leader.Host, leader.Port)
        )
        {
            return;
        }
        if (link.Current is null)
        {
            link.Remove(stream);
            LeaveWhenIdle(link);
            LinkTo(leader.Host, leader.Port).Add(stream);
        }
        else if (isFinal || stream.IsWaiting)
        {
            string address = HostPort.Format(leader.Host, leader.Port);
            stream.OnOtherLeader(
                link.Current,
                new ClosedFrame(
                    ErrorCode.NotLeader,
                    $"The cluster's metadata names {address} in epoch {leader.Epoch}.",
                    leader.Epoch,
                    address
                )
            );
        }
    }

    /// <summary>Begins to connect where that has not begun, or was given up. Called under the gate.</summary>
    private TaskCompletionSource EnsureRunning()
    {
        if (_connected is null)
        {
            _connected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _home.Running = RunAsync(RunHomeAsync);
        }
        return _connected;
    }

    private async Task RunHomeAsync()
    {
        bool first = true;
        _states.OnHome(ConnectionState.Connecting, null, Options);
        while (!_closing.IsCancellationRequested)
        {
            Connection connection;
            try
            {
                connection = await _connector.ConnectAnyAsync().ConfigureAwait(true);
            }
            catch (LightQException e) when (!_closing.IsCancellationRequested)
            {
                if (BrokerConnector.IsFinal(Options, e.Code) || (first && !Options.WaitForBroker))
                {
                    GiveUp(e);
                    return;
                }
                await DelayAsync(e).ConfigureAwait(true);
                continue;
            }
            catch (LightQException)
            {
                break;
            }
            first = false;
            (_failedAttempts, _lastFailure) = (0, null);
            Begin(connection);
            LightQException reason = await connection.Ended.ConfigureAwait(true);
            lock (_gate)
                _home.End(reason);
            if (_closing.IsCancellationRequested)
                break;
            // A token that counts no more never does again. A user and password may: of a user that was made anew, or
            // whose password was set to what it was.
            if (reason.Code == ErrorCode.Unauthenticated && Options.Token is not null)
            {
                GiveUp(reason);
                return;
            }
            _connector.OnLost();
            ClientLog.Lost(Logger, connection.Broker.ToString(), reason.Code, reason.Message);
            _states.OnHome(ConnectionState.Reconnecting, reason, connection.Broker);
        }
        _connected!.TrySetException(ClosedByClient());
        _ = _connected.Task.Exception;
    }

    private void Begin(Connection connection)
    {
        lock (_gate)
        {
            _home.Begin(connection);
            if (connection.HasCluster && !_isWatching && !_closing.IsCancellationRequested)
            {
                _isWatching = true;
                var watch = new LeaderWatch(_leaders, this, _closing.Token);
                _watching = OwnTask.Run(watch.RunAsync);
            }
            if (_closing.IsCancellationRequested)
                connection.Fail(ClosedByClient());
        }
        Volatile.Write(ref _absence, null);
        _states.OnHome(ConnectionState.Connected, null, connection.Broker);
        _connected!.TrySetResult();
    }

    private void GiveUp(LightQException reason)
    {
        ClientStream[] streams;
        lock (_gate)
            streams = _home.RemoveAll();
        Close(streams, reason);
        TaskCompletionSource connected;
        lock (_gate)
        {
            streams = _home.RemoveAll(); // Which have come home meanwhile.
            connected = _connected!;
            _connected = null;
        }
        Close(streams, reason);
        Volatile.Write(ref _absence, null);
        _states.OnHome(ConnectionState.Disconnected, reason, Options);
        connected.TrySetException(reason);
    }

    private async Task DelayAsync(LightQException reason)
    {
        TimeSpan delay = RetryDelay.Reconnect(Options, _failedAttempts++, Random.Shared.NextDouble());
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
            _states.OnRejected(reason, Options);
        _lastFailure = reason.Code;
        Volatile.Write(ref _absence, _events.State == ConnectionState.Connected ? null : reason);
        _attemptFailed.TrySetResult();
        await WaitAsync(delay);
    }

    private async Task ReopenAsync(ClientStream stream, Connection connection, int closing)
    {
        await WaitAsync(RetryDelay.Reconnect(Options, 3, Random.Shared.NextDouble()));
        lock (_gate)
        {
            if (stream.Link?.Current == connection && stream.Closings == closing && !_closing.IsCancellationRequested)
            {
                stream.Open(connection);
            }
        }
    }

    /// <summary>
    /// Opens a stream on the broker that leads its partition, as far as is known. The first broker that is named is
    /// asked at once; where nobody knows the leader, or one after the other is named, after a pause.
    /// </summary>
    private async Task RelocateAsync(
        ClientStream stream,
        Connection connection,
        int closing,
        LeaderHint hint,
        bool isKnown
    )
    {
        bool isAtOnce = hint.Address is not null && (isKnown || hint.Turn == 1);
        await WaitAsync(isAtOnce ? TimeSpan.Zero : RetryDelay.Election(hint.Turn, Random.Shared.NextDouble()));
        string? address = hint.Address;
        if (address is null && _connector.Count > 1 && connection.HasCluster)
        {
            address = await _leaders
                .FindAsync(stream.Topic, stream.WantedPartition, hint.Newest, _closing.Token)
                .ConfigureAwait(false);
        }

        // What the old connection is sending of the stream is sent again on the new one.
        Task round = connection.Outbox.EndOfRoundAsync();
        if (isKnown)
            await EndAsync(round, connection).ConfigureAwait(false);
        else
            await round.ConfigureAwait(false);
        lock (_gate)
        {
            if (_closing.IsCancellationRequested || stream.Link is not { } link)
                return;
            bool isHere = link.Current == connection;
            if (!isHere && !(isKnown && link.Current is null))
                return;
            if (stream.Closings != closing)
                return; // It was taken off since, and is moved by that.
            BrokerLink next = Choose(address, hint.Turn);
            if (next == link)
            {
                if (isHere)
                    stream.Open(connection);
                return;
            }
            link.Remove(stream);
            LeaveWhenIdle(link);
            stream.OnMoved();
            next.Add(stream);
        }
    }

    /// <summary>Ends a connection that does not let go of what it is sending: its broker does not receive.</summary>
    private async Task EndAsync(Task round, Connection connection)
    {
        using var lost = new CancellationTokenSource();
        if (await Task.WhenAny(round, PauseAsync(LongestRound, lost.Token)).ConfigureAwait(false) != round)
        {
            connection.Fail(
                new LightQException(
                    ErrorCode.TimedOut,
                    $"The broker at {connection.Broker} receives nothing, and leads its partitions no more."
                )
            );
        }
        await lost.CancelAsync().ConfigureAwait(false);
        await round.ConfigureAwait(false);
    }

    /// <summary>
    /// Where the leader is said to be; without a word of it at home first, then at each broker that is known in turn.
    /// Called under the gate.
    /// </summary>
    private BrokerLink Choose(string? address, int turn)
    {
        if (address is not null && HostPort.TryParse(address, out string host, out int port))
            return LinkTo(host, port);
        if (turn == 1 || _connector.Count == 1)
            return _home;
        LightQClientOptions broker = _connector.Broker(turn);
        return LinkTo(broker.Host, broker.DataPort);
    }

    /// <summary>The link to a broker, made where there is none. Called under the gate.</summary>
    private BrokerLink LinkTo(string host, int port)
    {
        if (_home.IsAt(host, port))
            return _home;
        string address = HostPort.Format(host, port);
        // One that is left may end at any moment, and take who comes home with it.
        if (_nodes.TryGetValue(address, out BrokerLink? node) && !node.IsLeft)
            return node;
        Task left = node?.Running ?? Task.CompletedTask; // The end of the client waits for both.
        _nodes[address] = node = new BrokerLink(address);
        LightQClientOptions broker = Options.For(host, port, Options.ControlPort);
        node.Running = Task.WhenAll(left, RunAsync(() => RunNodeAsync(node, address, broker)));
        return node;
    }

    /// <summary>One connection to a broker that leads partitions; then its streams go home.</summary>
    private async Task RunNodeAsync(BrokerLink node, string address, LightQClientOptions broker)
    {
        LightQException reason;
        try
        {
            Connection connection = await _connector.ConnectAsync(broker).ConfigureAwait(true);
            lock (_gate)
            {
                node.Begin(connection);
                if (_closing.IsCancellationRequested)
                    connection.Fail(ClosedByClient());
                LeaveWhenIdle(node);
            }
            _states.OnNodeConnected(broker);
            reason = await connection.Ended.ConfigureAwait(true);
            if (!node.IsLeft && !_closing.IsCancellationRequested)
                ClientLog.Lost(Logger, broker.ToString(), reason.Code, reason.Message);
            End(node, address, reason);
            _states.OnNodeLost(reason, broker);
        }
        catch (LightQException e)
        {
            ClientLog.NodeNotReached(Logger, broker.ToString(), e.Code, e.Message);
            End(node, address, e);
        }
    }

    private void End(BrokerLink node, string address, LightQException reason)
    {
        ClientStream[] streams;
        lock (_gate)
        {
            if (_nodes.GetValueOrDefault(address) == node)
                _nodes.Remove(address);
            node.End(reason);
            // They are closed with the client's others.
            if (_closing.IsCancellationRequested)
            {
                foreach (ClientStream stream in node.RemoveAll())
                    _home.Add(stream);
                return;
            }
            streams = node.RemoveAll();
            if (!BrokerConnector.IsFinal(Options, reason.Code))
            {
                foreach (ClientStream stream in streams)
                    _home.Add(stream);
                if (streams.Length != 0)
                    EnsureRunning();
                return;
            }
        }
        Close(streams, reason);
    }

    /// <summary>Ends the connection to a leader when no stream has come to use it after a while.</summary>
    private void LeaveWhenIdle(BrokerLink link)
    {
        if (link != _home && link.IsEmpty)
        {
            int uses = link.Uses;
            _ = RunAsync(() => LeaveAsync(link, uses));
        }
    }

    private async Task LeaveAsync(BrokerLink node, int uses)
    {
        await WaitAsync(IdleTime);
        lock (_gate)
        {
            if (node.IsEmpty && node.Uses == uses && !_closing.IsCancellationRequested)
                node.Leave(new LightQException(ErrorCode.Closed, "Nothing used the connection."));
        }
    }

    /// <summary>What the client does by itself, on its own thread if it has threads.</summary>
    private Task RunAsync(Func<Task> work) => _thread is null ? OwnTask.Run(work) : _thread.RunAsync(work);

    /// <summary>Waits, or until the client is closed.</summary>
    private ConfiguredTaskAwaitable WaitAsync(TimeSpan delay) =>
        ClientTimer.DelayAsync(Options.ConnectionTime, delay, _closing.Token).ConfigureAwait(true);

    private void CloseStreams(LightQException reason)
    {
        ClientStream[] streams;
        lock (_gate)
            streams = [.. _home.RemoveAll(), .. _nodes.Values.SelectMany(static n => n.RemoveAll())];
        Close(streams, reason);
    }

    private static void Close(ClientStream[] streams, LightQException reason)
    {
        foreach (ClientStream stream in streams)
            stream.OnClosed(reason);
    }
}

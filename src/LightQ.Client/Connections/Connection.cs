using System.Collections.Concurrent;
using System.Net.Security;
using System.Net.Sockets;
using LightQ.Client.Encryption;
using LightQ.Client.Timing;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>One connection, from Hello to its end: handshake, dispatch of frames to streams, heartbeat.</summary>
/// <remarks>
/// How bytes are received and sent is the subclass's. Frames arrive on one thread at a time. <see cref="Ended"/>
/// completes when no thread of this connection runs any more, so that streams can be taken over without locks against
/// it.
/// </remarks>
internal abstract class Connection : IFrameSink
{
    private const int HeartbeatTicksUntilDead = 6;

    /// <summary>
    /// How many looks in a row, 20 ms apart, must find nothing under way before a connection leaves as the broker
    /// asked.
    /// </summary>
    private const int QuietPeriods = 3;

    // The heartbeat's own numbers are small.
    private const ulong AskedFor = 1UL << 63;

    private readonly ConcurrentDictionary<uint, ClientStream> _streams = new();
    private readonly List<ClientStream> _toWake = [];
    private readonly ConcurrentDictionary<ulong, TaskCompletionSource<long>> _pings = new();
    private readonly TaskCompletionSource<WelcomeFrame> _welcomed = new(
        TaskCreationOptions.RunContinuationsAsynchronously
    );
    private readonly TaskCompletionSource<LightQException> _ended = new(
        TaskCreationOptions.RunContinuationsAsynchronously
    );
    private readonly HelloFrame _hello;
    private readonly ClientEvents _events;
    private LightQException? _failure;
    private volatile LightQException? _goodbye;
    private ITimer? _heartbeat;
    private ITimer? _leaving;
    private uint _lastStream;
    private ulong _lastPing;
    private int _receives;
    private int _heartbeatReceives;
    private int _heartbeatSends;
    private int _silentTicks;

    protected Connection(LightQClientOptions options, HelloFrame hello, ReceiveBlockPool blocks, ClientEvents events)
    {
        Options = options;
        _hello = hello;
        _events = events;
        Socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        Intake = new FrameIntake(blocks, this);
    }

    /// <summary>The broker's Welcome; fails when the connection ends before it.</summary>
    public Task<WelcomeFrame> Welcomed => _welcomed.Task;

    /// <summary>Why the connection ended, once it has.</summary>
    public Task<LightQException> Ended => _ended.Task;

    /// <summary>The broker, and how it is connected to.</summary>
    public LightQClientOptions Broker => Options;

    /// <summary>What waits to be sent.</summary>
    public abstract Outbox Outbox { get; }

    /// <summary>Whether the broker is part of a cluster; known once it has said Welcome.</summary>
    public bool HasCluster { get; private set; }

    /// <summary>Whether the broker takes <see cref="WindowFrame"/>; known once it has said Welcome.</summary>
    public bool HasWindow { get; private set; }

    /// <summary>The largest batch that fits a frame.</summary>
    public int MaxBatchBytes => Intake.MaxFrameBytes - FrameHeader.Size;

    /// <summary>Whether batches may have times that count from their append; known once it has said Welcome.</summary>
    public bool HasBrokerClock { get; private set; }

    /// <summary>The broker's clock; null from one that does not tell its time.</summary>
    public BrokerTime? Time { get; private set; }

    /// <summary>Whether the broker asked to leave: nothing new is published on this connection.</summary>
    public bool IsLeaving { get; private set; }

    protected LightQClientOptions Options { get; }

    protected Socket Socket { get; }

    protected FrameIntake Intake { get; }

    protected bool HasFailed => Volatile.Read(ref _failure) is not null;

    /// <summary>Begins to connect. Outcome: <see cref="Welcomed"/>.</summary>
    public abstract void Start();

    /// <summary>Gives a stream its id on this connection.</summary>
    public uint Register(ClientStream stream)
    {
        uint id = Interlocked.Increment(ref _lastStream);
        _streams[id] = stream;
        return id;
    }

    /// <summary>Forgets a stream; frames for it are ignored from now on.</summary>
    public void Unregister(uint id) => _streams.TryRemove(id, out _);

    /// <summary>Asks the broker for an answer.</summary>
    /// <returns>How long it took to arrive.</returns>
    public async Task<TimeSpan> PingAsync(CancellationToken cancellationToken)
    {
        ulong payload = AskedFor | Interlocked.Increment(ref _lastPing);
        TaskCompletionSource<long> answered = _pings[payload] = new TaskCompletionSource<long>(
            TaskCreationOptions.RunContinuationsAsynchronously
        );
        try
        {
            long sent = Options.ConnectionTime.GetTimestamp();
            Outbox.Write(new PingFrame(payload));
            await Task.WhenAny(answered.Task, Ended).WaitAsync(cancellationToken).ConfigureAwait(false);
            if (!answered.Task.IsCompleted)
                throw await Ended.ConfigureAwait(false);
            return Options.ConnectionTime.GetElapsedTime(sent, await answered.Task.ConfigureAwait(false));
        }
        finally
        {
            _pings.TryRemove(payload, out _);
        }
    }

    /// <summary>Ends the connection; the first reason counts, or why it was left before. Does not wait.</summary>
    public void Fail(LightQException reason)
    {
        if (Interlocked.CompareExchange(ref _failure, _goodbye ?? reason, null) is not null)
            return;
        Outbox.Close();
        _welcomed.TrySetException(_failure!);
        try
        {
            // Not Dispose: with a call under way that resets the connection, and what was just sent may be lost.
            Socket.Shutdown(SocketShutdown.Both);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Not connected (yet): this ends an attempt to.
            Socket.Dispose();
        }
    }

    public void OnFrame(in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (header.Stream != 0)
        {
            if (_streams.TryGetValue(header.Stream, out ClientStream? stream))
                stream.OnFrame(this, header, body);
            return;
        }
        switch (header.Type)
        {
            case FrameType.Welcome:
                OnWelcome(FrameCodec.Read<WelcomeFrame>(body));
                break;
            case FrameType.Ping:
                PingFrame asked = FrameCodec.Read<PingFrame>(body);
                if (asked.Time != 0)
                    Time = new BrokerTime(Options.TimeProvider, asked.Time, Time);
                Outbox.Write(new PongFrame(asked.Payload));
                break;
            case FrameType.Pong:
                if (_pings.TryGetValue(FrameCodec.Read<PongFrame>(body).Payload, out TaskCompletionSource<long>? ping))
                    ping.TrySetResult(Options.ConnectionTime.GetTimestamp());
                break;
            case FrameType.Error:
                ErrorFrame error = FrameCodec.Read<ErrorFrame>(body);
                Fail(new LightQException(error.Code, error.Message));
                break;
            case FrameType.GoAway:
                OnGoAway(FrameCodec.Read<GoAwayFrame>(body));
                break;
            default:
                throw new ProtocolException(
                    ErrorCode.UnexpectedFrame,
                    $"A broker does not send {header.Type} without a stream."
                );
        }
    }

    public void OnRun(uint stream, ReceiveBlock block, int offset, int length, int lastBatch)
    {
        if (
            _streams.TryGetValue(stream, out ClientStream? subscription)
            && subscription.OnRun(this, stream, block, offset, length, lastBatch)
        )
        {
            _toWake.Add(subscription);
        }
    }

    public void OnGroupDeliver(in FrameHeader header, ReceiveBlock block, int offset)
    {
        if (
            _streams.TryGetValue(header.Stream, out ClientStream? subscription)
            && subscription.OnGroupDeliver(this, header, block, offset)
        )
        {
            _toWake.Add(subscription);
        }
    }

    /// <summary>Parses what was received and resumes the callers that wait for it.</summary>
    protected void OnReceived(int count)
    {
        _receives++;
        Intake.Received(count);
        if (_toWake.Count == 0)
            return;
        foreach (ClientStream stream in _toWake)
            stream.Wake();
        _toWake.Clear();
    }

    /// <summary>What encrypts this connection, once the socket is connected; null without TLS.</summary>
    protected SslStream? CreateTls() => Options.Tls ? new SslStream(new NetworkStream(Socket)) : null;

    /// <summary>What the handshake is made with.</summary>
    /// <exception cref="LightQException">A file that the options name cannot be used.</exception>
    protected SslClientAuthenticationOptions LoadTls() => ClientTls.Load(Options);

    protected void SendHello() =>
        Outbox.Write(_hello with { Time = UnixMicroseconds.From(Options.TimeProvider.GetUtcNow()) });

    /// <summary>The last thing the subclass calls: its threads are done.</summary>
    protected void OnStopped()
    {
        Fail(new LightQException(ErrorCode.Unavailable, $"The connection to {Options} was closed."));
        Socket.Dispose();
        _heartbeat?.Dispose();
        _leaving?.Dispose();
        Intake.Dispose();
        LightQException reason = _failure!;
        _welcomed.TrySetException(reason);
        _ended.TrySetResult(reason);
    }

    /// <summary>Translates what a socket or the parser threw.</summary>
    protected void OnException(Exception exception) =>
        Fail(
            exception switch
            {
                LightQException e => e,
                _ when Options.Tls && !_welcomed.Task.IsCompleted && TlsFailure.Explain(exception, Options) is { } e =>
                    e,
                IOException { InnerException: SocketException e } => Unreachable(e),
                ProtocolException e when !_welcomed.Task.IsCompleted => new LightQException(
                    e.Code,
                    $"What answers at {Options} does not speak LightQ's protocol. {e.Message}",
                    e
                ),
                ProtocolException e => new LightQException(
                    e.Code,
                    $"The broker at {Options} broke the protocol: {e.Message}",
                    e
                ),
                SocketException e => Unreachable(e),
                _ => new LightQException(
                    ErrorCode.Unavailable,
                    $"The connection to {Options} failed: {exception.Message}",
                    exception
                ),
            }
        );

    /// <summary>Its own message has the address once more, as ::ffff:127.0.0.1.</summary>
    private LightQException Unreachable(SocketException e) =>
        new(
            ErrorCode.Unavailable,
            $"The connection to {Options} failed: {new SocketException((int)e.SocketErrorCode).Message}.",
            e
        );

    private void OnWelcome(in WelcomeFrame welcome)
    {
        if (welcome.MaxFrameBytes is < ProtocolLimits.HandshakeFrameBytes or > int.MaxValue)
        {
            throw new ProtocolException(
                ErrorCode.MalformedFrame,
                $"A frame limit of {welcome.MaxFrameBytes} bytes is out of range."
            );
        }

        Intake.MaxFrameBytes = (int)welcome.MaxFrameBytes;
        HasCluster = (welcome.Features & ProtocolFeatures.Cluster) != 0;
        HasWindow = (welcome.Features & ProtocolFeatures.Window) != 0;
        HasBrokerClock = (welcome.Features & ProtocolFeatures.BrokerClock) != 0;
        if (welcome.Time != 0)
        {
            Time = new BrokerTime(Options.TimeProvider, welcome.Time);
            _events.OnClock(Time.Skew, Options);
        }
        if (welcome.HeartbeatMilliseconds > 0)
        {
            TimeSpan half = TimeSpan.FromMilliseconds(welcome.HeartbeatMilliseconds / 2.0);
            _heartbeat = ClientTimer.Create(Options.ConnectionTime, static c => ((Connection)c!).OnHeartbeat(), this);
            _heartbeat.Change(half, half);
        }
        _welcomed.TrySetResult(welcome);
    }

    /// <summary>Runs twice per heartbeat interval. Never sends itself: a full socket must not hold the timer.</summary>
    private void OnHeartbeat()
    {
        int receives = Volatile.Read(ref _receives);
        _silentTicks = receives == _heartbeatReceives && !HasUnread() ? _silentTicks + 1 : 0;
        _heartbeatReceives = receives;
        if (_silentTicks >= HeartbeatTicksUntilDead)
        {
            Fail(
                new LightQException(
                    ErrorCode.TimedOut,
                    $"The broker at {Options} has been silent for three heartbeats."
                )
            );
            return;
        }
        int sends = Outbox.Sends;
        if (sends == _heartbeatSends)
            Outbox.Write(new PingFrame((ulong)sends));
        _heartbeatSends = sends;
    }

    /// <summary>Whether the broker has sent something that this program has had no time to receive.</summary>
    private bool HasUnread()
    {
        try
        {
            return Socket.Available > 0;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return false; // It is being closed.
        }
    }

    private void OnGoAway(in GoAwayFrame goAway)
    {
        IsLeaving = true;
        _events.OnGoingAway(goAway, Options);
        var reason = new LightQException(ErrorCode.ShuttingDown, $"The broker is going away: {goAway.Message}");
        TimeSpan period = TimeSpan.FromMilliseconds(20);
        int quiet = 0;
        long deadline = Options.ConnectionTime.GetTimestamp();
        TimeSpan left = TimeSpan.FromMilliseconds(goAway.TimeLeftMilliseconds);
        if (_leaving is not null)
            return;
        _leaving = ClientTimer.Create(
            Options.ConnectionTime,
            _ =>
            {
                // What was just settled may still be on its way to the socket, for as long as receipts wait for
                // company.
                quiet = _streams.Values.Any(s => s.HasUnanswered) ? 0 : quiet + 1;
                if (Options.ConnectionTime.GetElapsedTime(deadline) >= left)
                    Fail(reason);
                else if (quiet == QuietPeriods)
                    Leave(reason);
            },
            null
        );
        _leaving.Change(period, period);
    }

    /// <summary>
    /// Sends no more, and reads until the broker closes: a group that settles automatically counts what is on its way
    /// as delivered.
    /// </summary>
    private void Leave(LightQException reason)
    {
        _goodbye = reason;
        Outbox.Close();
        try
        {
            Socket.Shutdown(SocketShutdown.Send);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The broker was faster.
        }
    }
}

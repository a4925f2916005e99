using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using LightQ.Broker.Streams;
using LightQ.Protocol;
using LightQ.Scheduling;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using LightQ.Server.Tls;
using LightQ.Server.Transport;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Connections;

#pragma warning disable CA1001 // The sender is disposed by the last turn: only then does nothing use it.
/// <summary>One accepted socket with its protocol and its output, from accept to the last release.</summary>
internal sealed class ClientConnection : IHousekept, IConnectionEvents
{
    /// <summary>How long a rejected peer has to read the reason.</summary>
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(2);

    /// <summary>How long one has that was silent.</summary>
    private static readonly TimeSpan Farewell = TimeSpan.FromMilliseconds(100);

    private readonly Socket _socket;
    private readonly TlsLink? _tls;
    private readonly PipeReader _input;
    private readonly FrameSender _sender;
    private readonly ServerLimits _limits;
    private readonly ProtocolException? _refusal;
    private readonly ConnectionListener _listener;
    private bool _isAdmissionReleased;
    private readonly TimeProvider _time;
    private readonly long _accepted;
    private readonly HousekeepingSchedule _housekeeping;
    private readonly ILogger _logger;
    private bool _isToldToGo;
    private volatile bool _hasEnded;

    /// <param name="listener">
    /// The listener that has accepted it; it is called when the connection is welcomed or gone, and when it has ended.
    /// </param>
    /// <param name="socket">The accepted socket.</param>
    /// <param name="protocol">What the port speaks.</param>
    /// <param name="limits">The limits.</param>
    /// <param name="blocks">Buffers.</param>
    /// <param name="tls">The certificate; null for none.</param>
    /// <param name="id">Names the connection.</param>
    /// <param name="refusal">Why it is rejected at once; null when it is not.</param>
    /// <param name="time">The clock.</param>
    /// <param name="housekeeping">Looks after it.</param>
    /// <param name="logger">Where to log.</param>
    public ClientConnection(
        ConnectionListener listener,
        Socket socket,
        IConnectionProtocolFactory protocol,
        ServerLimits limits,
        DataPlaneBlocks blocks,
        ServerTls? tls,
        uint id,
        ProtocolException? refusal,
        TimeProvider time,
        HousekeepingSchedule housekeeping,
        ILogger logger
    )
    {
        _listener = listener;
        _socket = socket;
        _limits = limits;
        _refusal = refusal;
        _time = time;
        _housekeeping = housekeeping;
        _logger = logger;
        Id = id;
        Connected = time.GetUtcNow();
        _accepted = time.GetTimestamp();
        Remote = socket.RemoteEndPoint;
        _tls = tls is null ? null : new TlsLink(socket, tls, blocks);
        _input = _tls?.Input ?? new SocketPipeReader(socket, blocks);
        _sender = _tls?.Sender ?? new SocketFrameSender(socket);
        Protocol = protocol.Create(new ConnectionParts(id, new PeerChannel(Remote), _sender, blocks, this));
    }

    /// <summary>Names the connection.</summary>
    public uint Id { get; }

    /// <summary>The peer.</summary>
    public EndPoint? Remote { get; }

    /// <summary>When it was accepted.</summary>
    public DateTimeOffset Connected { get; }

    /// <summary>
    /// Whether it counts as a connection; otherwise it is open only so that the peer gets the reason why it is
    /// rejected.
    /// </summary>
    public bool IsAdmitted => _refusal is null;

    /// <summary>Who has logged in and counts beside the address; null for nobody.</summary>
    public string? User { get; private set; }

    /// <summary>What it speaks.</summary>
    public IConnectionProtocol Protocol { get; }

    bool IConnectionEvents.IsPeerGone => _hasEnded || PeerState.IsGone(_socket);

    private ConnectionOutput Output => Protocol.Output;

    /// <summary>
    /// When housekeeping looks at it first. A Ping is due one heartbeat after the Hello; the connection does not
    /// request that look.
    /// </summary>
    public TimeSpan FirstLook => Earlier(_limits.DataPlane.HandshakeTimeout, _limits.DataPlane.Heartbeat);

    /// <summary>How long the peer has said nothing.</summary>
    public TimeSpan Unheard => _time.GetElapsedTime(Protocol.LastReceive);

    /// <summary>Runs the connection to its end.</summary>
    public async Task RunAsync()
    {
        try
        {
            ProtocolException? refusal = _tls is null ? _refusal : await _tls.HandshakeAsync().ConfigureAwait(false);
            if (_tls is not null)
                Protocol.Peer = Protocol.Peer with { CertificateNames = _tls.ClientNames };
            ProtocolException? failure = await Protocol.RunAsync(_input, refusal).ConfigureAwait(false);
            if (failure is not null && failure != _refusal)
                LogRefusal(failure);
            else if (!Protocol.IsWelcomed && _tls?.Failure is { Length: > 0 } broken)
                LogNoTls(broken);
        }
        catch (TlsFailureException e)
        {
            if (e.Message.Length != 0)
                LogNoTls(e.Message);
            _socket.Dispose();
        }
        // The last line of defence of one connection: a defect here must not take the broker with it, and is logged
        // whole.
#pragma warning disable CA1031
        catch (Exception e)
#pragma warning restore CA1031
        {
            ConnectionLog.Crashed(_logger, e, Id, Remote);
            _socket.Dispose();
        }
        finally
        {
            Output.InputEnded();
        }
    }

    /// <summary>Sends heartbeats, and ends a connection that is silent, slow to greet, or rejected.</summary>
    /// <returns>When one of these is due if nothing happens until then.</returns>
    public TimeSpan? Look(DateTimeOffset now)
    {
        // What is to be sent, this thread sends: posted, thousands at once would be on every thread of the pool.
        using var turns = TurnScope.Enter();
        DataPlaneOptions limits = _limits.DataPlane;
        long timestamp = _time.GetTimestamp();
        TimeSpan unheard = _time.GetElapsedTime(Protocol.LastReceive, timestamp),
            unsent = _time.GetElapsedTime(Output.LastSend, timestamp);
        if (_hasEnded)
            return null;
        if (Protocol.IsRefused)
        {
            TimeSpan quiet = unheard > unsent ? unheard : unsent;
            return quiet >= Linger ? Cut() : Linger - quiet;
        }
        if (!Protocol.IsWelcomed)
        {
            if (Protocol.IsAuthenticating)
                return limits.HandshakeTimeout;
            TimeSpan left = limits.HandshakeTimeout - _time.GetElapsedTime(_accepted, timestamp);
            return left <= TimeSpan.Zero
                ? Expire(nameof(DataPlaneOptions.HandshakeTimeout), limits.HandshakeTimeout, "said no Hello in time")
                : Earlier(left, limits.Heartbeat);
        }
        TimeSpan heartbeat = Protocol.Heartbeat ?? limits.Heartbeat,
            alive = (3 * heartbeat) - unheard;
        if (alive <= TimeSpan.Zero)
        {
            if (!HasUnread())
                return Expire(nameof(DataPlaneOptions.Heartbeat), heartbeat, "was silent for three heartbeats");
            alive = heartbeat;
        }
        if (Output.IsSending && unsent >= limits.StalledReaderTimeout)
        {
            return Expire(
                nameof(DataPlaneOptions.StalledReaderTimeout),
                limits.StalledReaderTimeout,
                "does not read what it is sent"
            );
        }

        if (Protocol.IsTooSlow(out long rate) && !HasUnread())
        {
            return Expire(
                nameof(DataPlaneOptions.MinFrameBytesPerSecond),
                limits.MinFrameBytesPerSecond,
                $"sends a frame at {rate} bytes a second"
            );
        }

        if (Output.IsSending)
            alive = Earlier(alive, limits.StalledReaderTimeout - unsent);
        if (Protocol.IsWaiting)
            alive = Earlier(alive, limits.FrameGrace);
        TimeSpan? told = null;
        if (Protocol.Streams.HasUnreportedEnd())
        {
            if (unsent >= Linger && Output.IsSending)
            {
                return Expire(
                    nameof(DataPlaneOptions.StalledReaderTimeout),
                    limits.StalledReaderTimeout,
                    "does not read, so that a stream which the broker has ended could not leave its topic"
                );
            }

            told = unsent < Linger ? Linger - unsent : Linger;
        }
        TimeSpan ping = heartbeat - unsent;
        if (ping <= TimeSpan.Zero || Protocol.HasNewTime)
        {
            Protocol.Ping();
            ping = heartbeat;
        }
        return Earlier(Earlier(ping, alive), told ?? alive);
    }

    /// <summary>Sends the peer a GoAway, unless one was sent before.</summary>
    public void GoAway(TimeSpan timeLeft)
    {
        if (Interlocked.Exchange(ref _isToldToGo, true))
            return;
        Protocol.GoAway(timeLeft);
    }

    /// <summary>Sends what is queued, then ends.</summary>
    public void Finish() => Protocol.Finish();

    /// <summary>Cuts the connection.</summary>
    public void Abort() => _socket.Dispose();

    private static TimeSpan Earlier(TimeSpan a, TimeSpan b) => a < b ? a : b;

    /// <summary>The peer has met a limit of time. The peer gets the reason, if that is possible.</summary>
    private TimeSpan? Expire(string setting, IFormattable limit, string what)
    {
        ProtocolException reason = _limits.Refuse(
            ErrorCode.TimedOut,
            setting,
            limit,
            $"Connection {Id} from {Remote} {what}"
        );
        if (Output.IsSending)
            return Reset();
        return Protocol.TryEnd(reason) ? Farewell : Cut();
    }

    /// <summary>Whether it is the broker that is slow, and not the peer.</summary>
    private bool HasUnread()
    {
        try
        {
            return _socket.Available != 0;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return true; // It is ending anyway.
        }
    }

    private void LogRefusal(ProtocolException reason)
    {
        if (_limits.MayLogRefusal("data", out string unsaid))
            ConnectionLog.Refused(_logger, Id, Remote, reason.Code, reason.Message + unsaid);
    }

    private void LogNoTls(string reason)
    {
        if (_limits.MayLogRefusal("data TLS", out string unsaid))
            ConnectionLog.NoTls(_logger, Id, Remote, reason + unsaid);
    }

    private void ReleaseAdmission()
    {
        if (Interlocked.Exchange(ref _isAdmissionReleased, true))
            return;
        _listener.ReleaseAdmission(this);
    }

    /// <summary>
    /// Cuts the connection of a peer that had its time to read why. Before its Hello it was sent nothing else.
    /// </summary>
    private TimeSpan? Cut()
    {
        if (Protocol.IsWelcomed)
            return Reset();
        Abort();
        return null;
    }

    /// <summary>
    /// Cuts the connection of a peer that may not read: otherwise the system would go on for minutes to keep what it
    /// has not taken.
    /// </summary>
    /// <returns>Nothing more is due.</returns>
    private TimeSpan? Reset()
    {
        _socket.Close(timeout: 0);
        return null;
    }

    void IConnectionEvents.OnLoggedIn(string user)
    {
        if (!IsAdmitted)
            return;
        _listener.Join(user);
        User = user;
    }

    void IConnectionEvents.OnWelcomed()
    {
        if (_input is SocketPipeReader plain)
            plain.Widen();
        else
            _tls!.Widen();
        ReleaseAdmission();
        if (Protocol.Heartbeat is { } heartbeat)
            _housekeeping.Request(this, heartbeat);
        if (Protocol.ClockSkew is { } skew && skew.Duration() > ProtocolLimits.ClockSkewToTell)
            ConnectionLog.Skewed(_logger, Id, Protocol.ClientName, Remote, new ClockStep(skew, default).Text);
    }

    void IConnectionEvents.OnEndPending() => _housekeeping.Request(this, Linger);

    void IConnectionEvents.OnStreamEnded(OutputStream stream) => Protocol.Streams.Remove(stream);

    void IConnectionEvents.OnCrashed(Exception error) => ConnectionLog.Crashed(_logger, error, Id, Remote);

    void IConnectionEvents.OnClosed()
    {
        ReleaseAdmission();
        Protocol.Streams.Release();
        _socket.Dispose();
        _input.Complete();
        _sender.Dispose();
        _tls?.Dispose();
        _hasEnded = true;
        _housekeeping.Remove(this);
        _listener.Forget(this);
    }
}

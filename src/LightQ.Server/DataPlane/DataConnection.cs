using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using LightQ.Broker;
using LightQ.Broker.Scheduling;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using LightQ.Server.Tls;
using LightQ.Storage;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.DataPlane;

#pragma warning disable CA1001 // The sender is disposed by the last turn: only then does nothing use it.
/// <summary>One accepted socket with its session and its output, from accept to the last release.</summary>
internal sealed class DataConnection : IHousekept, IConnectionEvents
{
    /// <summary>How long a refused peer has to read the reason.</summary>
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(2);

    /// <summary>How long one has that was silent.</summary>
    private static readonly TimeSpan Farewell = TimeSpan.FromMilliseconds(100);

    private readonly Socket _socket;
    private readonly TlsLink? _tls;
    private readonly PipeReader _input;
    private readonly FrameSender _sender;
    private readonly ConnectionOutput _output;
    private readonly ServerLimits _limits;
    private readonly ProtocolException? _refusal;
    private readonly DataListener _listener;
    private bool _hasLeftLobby;
    private readonly TimeProvider _time;
    private readonly long _accepted;
    private readonly HousekeepingSchedule _housekeeping;
    private readonly ILogger _logger;
    private bool _isToldToGo;
    private volatile bool _hasEnded;

    /// <param name="listener">Who has accepted it, and is told when it is welcomed or gone, and when it has ended.</param>
    /// <param name="socket">The accepted socket.</param>
    /// <param name="broker">The engine.</param>
    /// <param name="security">Who the peer may be.</param>
    /// <param name="limits">The limits.</param>
    /// <param name="blocks">Buffers.</param>
    /// <param name="tls">The certificate; null for none.</param>
    /// <param name="id">Names the connection.</param>
    /// <param name="refusal">Why it is refused at once; null when it is not.</param>
    /// <param name="time">The clock.</param>
    /// <param name="housekeeping">Looks after it.</param>
    /// <param name="logger">Where to log.</param>
    public DataConnection(
        DataListener listener, Socket socket, LightQBroker broker, ServerSecurity security, ServerLimits limits, DataPlaneBlocks blocks, ServerTls? tls, uint id,
        ProtocolException? refusal, TimeProvider time, HousekeepingSchedule housekeeping, ILogger logger)
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
        Session = new Session(this, broker, security, new PeerChannel(Remote), limits, blocks.Assembly, id, time);
        _output = new ConnectionOutput(_sender, blocks.Send, this, limits, time);
    }

    /// <summary>Names the connection.</summary>
    public uint Id { get; }

    /// <summary>The peer.</summary>
    public EndPoint? Remote { get; }

    /// <summary>When it was accepted.</summary>
    public DateTimeOffset Connected { get; }

    /// <summary>Whether it counts as a connection; otherwise it is one that is open only to be told why it is refused.</summary>
    public bool IsAdmitted => _refusal is null;

    /// <summary>The protocol state.</summary>
    public Session Session { get; }

    /// <summary>When housekeeping looks at it first. One that says Hello is due a Ping a heartbeat later, and says so to nobody.</summary>
    public TimeSpan FirstLook => Earlier(_limits.DataPlane.HandshakeTimeout, _limits.DataPlane.Heartbeat);

    /// <summary>Runs the connection to its end.</summary>
    public async Task RunAsync()
    {
        try
        {
            ProtocolException? refusal = _tls is null ? _refusal : await _tls.HandshakeAsync().ConfigureAwait(false);
            if (_tls is not null)
                Session.Peer = Session.Peer with { CertificateNames = _tls.ClientNames };
            ProtocolException? failure = await Session.RunAsync(_input, _output, refusal).ConfigureAwait(false);
            if (failure is not null && failure != _refusal)
                LogRefusal(failure);
            else if (!Session.IsWelcomed && _tls?.Failure is { Length: > 0 } broken)
                LogNoTls(broken);
        }
        catch (TlsFailureException e)
        {
            if (e.Message.Length != 0)
                LogNoTls(e.Message);
            _socket.Dispose();
        }
#pragma warning disable CA1031 // The last line of defence of one connection: a defect here must not take the broker with it, and is logged whole.
        catch (Exception e)
#pragma warning restore CA1031
        {
            DataPlaneLog.Crashed(_logger, e, Id, Remote);
            _socket.Dispose();
        }
        finally
        {
            _output.InputEnded();
        }
    }

    /// <summary>Sends heartbeats, and ends a connection that is silent, slow to greet, or refused.</summary>
    /// <returns>When one of these is due if nothing happens until then.</returns>
    public TimeSpan? Tend(DateTimeOffset now)
    {
        using var turns = TurnScope.Enter(); // What is to be sent, this thread sends: posted, thousands at once would be on every thread of the pool.
        DataPlaneOptions limits = _limits.DataPlane;
        long timestamp = _time.GetTimestamp();
        TimeSpan unheard = _time.GetElapsedTime(Session.LastReceive, timestamp), unsent = _time.GetElapsedTime(_output.LastSend, timestamp);
        if (_hasEnded)
            return null;
        if (Session.IsRefused)
        {
            TimeSpan quiet = unheard > unsent ? unheard : unsent;
            return quiet >= Linger ? Cut() : Linger - quiet;
        }
        if (!Session.IsWelcomed)
        {
            if (Session.IsAuthenticating)
                return limits.HandshakeTimeout;
            TimeSpan left = limits.HandshakeTimeout - _time.GetElapsedTime(_accepted, timestamp);
            return left <= TimeSpan.Zero ? Expire(nameof(DataPlaneOptions.HandshakeTimeout), limits.HandshakeTimeout, "said no Hello in time") : Earlier(left, limits.Heartbeat);
        }
        TimeSpan alive = (3 * limits.Heartbeat) - unheard;
        if (alive <= TimeSpan.Zero)
            return Expire(nameof(DataPlaneOptions.Heartbeat), limits.Heartbeat, "was silent for three heartbeats");
        if (_output.IsSending && unsent >= limits.StalledReaderTimeout)
            return Expire(nameof(DataPlaneOptions.StalledReaderTimeout), limits.StalledReaderTimeout, "does not read what it is sent");
        if (Session.Assembly.IsTooSlow(out long rate) && !HasUnread())
            return Expire(nameof(DataPlaneOptions.MinFrameBytesPerSecond), limits.MinFrameBytesPerSecond, $"sends a frame at {rate} bytes a second");
        if (_output.IsSending)
            alive = Earlier(alive, limits.StalledReaderTimeout - unsent);
        if (Session.Assembly.IsWaiting)
            alive = Earlier(alive, limits.FrameGrace);
        TimeSpan? told = null;
        if (Session.Streams.HasEndToTell())
        {
            if (unsent >= Linger && _output.IsSending)
                return Expire(nameof(DataPlaneOptions.StalledReaderTimeout), limits.StalledReaderTimeout, "does not read, so that a stream which the broker has ended could not leave its topic");
            told = unsent < Linger ? Linger - unsent : Linger;
        }
        TimeSpan ping = limits.Heartbeat - unsent;
        if (ping <= TimeSpan.Zero)
        {
            _output.Answer(new PingFrame(Session.Heartbeat));
            ping = limits.Heartbeat;
        }
        return Earlier(Earlier(ping, alive), told ?? alive);
    }

    /// <summary>Tells the peer that the broker is going, if it has not been told.</summary>
    public void GoAway(TimeSpan timeLeft)
    {
        if (Interlocked.Exchange(ref _isToldToGo, true))
            return;
        _output.Answer(new GoAwayFrame(ErrorCode.ShuttingDown, (uint)timeLeft.TotalMilliseconds, "the broker is stopping"));
    }

    /// <summary>How long the peer has said nothing.</summary>
    public TimeSpan Unheard => _time.GetElapsedTime(Session.LastReceive);

    /// <summary>Sends what is queued, then ends.</summary>
    public void Finish() =>
        _output.Answer(new ErrorFrame(ErrorCode.ShuttingDown, "the broker is stopping"), last: true);

    /// <summary>Cuts the connection.</summary>
    public void Abort() => _socket.Dispose();

    private static TimeSpan Earlier(TimeSpan a, TimeSpan b) => a < b ? a : b;

    /// <summary>The peer has met a limit of time. It is told, if that is possible.</summary>
    private TimeSpan? Expire(string setting, IFormattable limit, string what)
    {
        ProtocolException reason = _limits.Refuse(ErrorCode.TimedOut, setting, limit, $"Connection {Id} from {Remote} {what}");
        if (_output.IsSending)
            return Reset();
        return Session.TryEnd(reason) ? Farewell : Cut();
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
            DataPlaneLog.Refused(_logger, Id, Remote, reason.Code, reason.Message + unsaid);
    }

    private void LogNoTls(string reason)
    {
        if (_limits.MayLogRefusal("data TLS", out string unsaid))
            DataPlaneLog.NoTls(_logger, Id, Remote, reason + unsaid);
    }

    private void LeaveLobby()
    {
        if (Interlocked.Exchange(ref _hasLeftLobby, true))
            return;
        _listener.LeaveLobby(this);
    }

    /// <summary>Cuts the connection of a peer that had its time to read why. Before its Hello it was sent nothing else.</summary>
    private TimeSpan? Cut()
    {
        if (Session.IsWelcomed)
            return Reset();
        Abort();
        return null;
    }

    /// <summary>Cuts the connection of a peer that may not read: otherwise the system would go on for minutes to keep what it has not taken.</summary>
    /// <returns>Nothing more is due.</returns>
    private TimeSpan? Reset()
    {
        _socket.Close(timeout: 0);
        return null;
    }

    void IConnectionEvents.OnWelcomed()
    {
        if (_input is SocketPipeReader plain)
            plain.Widen();
        else
            _tls!.Widen();
        LeaveLobby();
    }

    void IConnectionEvents.OnEndToTell() => _housekeeping.Request(this, Linger);

    void IConnectionEvents.OnStreamEnded(OutputStream stream) => Session.Streams.Remove(stream);

    void IConnectionEvents.OnCrashed(Exception error) => DataPlaneLog.Crashed(_logger, error, Id, Remote);

    void IConnectionEvents.OnClosed()
    {
        LeaveLobby();
        Session.Streams.Release();
        _socket.Dispose();
        _input.Complete();
        _sender.Dispose();
        _tls?.Dispose();
        _hasEnded = true;
        _housekeeping.Remove(this);
        _listener.Forget(this);
    }
}

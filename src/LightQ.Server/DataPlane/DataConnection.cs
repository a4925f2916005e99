using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server.Security;
using LightQ.Server.Tls;
using LightQ.Storage;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.DataPlane;

#pragma warning disable CA1001 // The sender is disposed by the last turn: only then does nothing use it.
/// <summary>One accepted socket with its session and its output, from accept to the last release.</summary>
internal sealed class DataConnection : IHousekept
{
    /// <summary>How long a refused peer has to read the reason.</summary>
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(2);

    private readonly Socket _socket;
    private readonly TlsLink? _tls;
    private readonly PipeReader _input;
    private readonly FrameSender _sender;
    private readonly ConnectionOutput _output;
    private readonly DataPlaneOptions _options;
    private readonly TimeProvider _time;
    private readonly long _accepted;
    private readonly HousekeepingSchedule _housekeeping;
    private readonly ILogger _logger;
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public DataConnection(
        Socket socket, LightQBroker broker, ServerSecurity security, DataPlaneOptions options, DataPlaneBlocks blocks, ServerTls? tls, uint id, TimeProvider time, HousekeepingSchedule housekeeping, ILogger logger)
    {
        _socket = socket;
        _options = options;
        _time = time;
        _housekeeping = housekeeping;
        _logger = logger;
        Id = id;
        Connected = time.GetUtcNow();
        _accepted = time.GetTimestamp();
        Remote = socket.RemoteEndPoint;
        _tls = tls is null ? null : new TlsLink(socket, tls, blocks);
        _input = _tls?.Input ?? new SocketPipeReader(socket, blocks.Receive);
        _sender = _tls?.Sender ?? new SocketFrameSender(socket);
        Session = new Session(broker, security, new PeerChannel(Remote), options, id, time) { EndToTell = () => housekeeping.Request(this, Linger) };
        _output = new ConnectionOutput(_sender, blocks.Send, Session.Remove, OnClosed, e => DataPlaneLog.Crashed(_logger, e, Id, Remote), time);
    }

    /// <summary>Names the connection.</summary>
    public uint Id { get; }

    /// <summary>The peer.</summary>
    public EndPoint? Remote { get; }

    /// <summary>When it was accepted.</summary>
    public DateTimeOffset Connected { get; }

    /// <summary>The protocol state.</summary>
    public Session Session { get; }

    /// <summary>When housekeeping looks at it first. One that says Hello is due a Ping a heartbeat later, and says so to nobody.</summary>
    public TimeSpan FirstLook => Earlier(_options.HandshakeTimeout, _options.Heartbeat);

    /// <summary>Completes when everything is released.</summary>
    public Task Ended => _ended.Task;

    /// <summary>Runs the connection to its end.</summary>
    public async Task RunAsync()
    {
        try
        {
            ProtocolException? refusal = _tls is null ? null : await _tls.HandshakeAsync().ConfigureAwait(false);
            if (_tls is not null)
                Session.Peer = Session.Peer with { CertificateNames = _tls.ClientNames };
            ProtocolException? failure = await Session.RunAsync(_input, _output, refusal).ConfigureAwait(false);
            if (failure is not null)
                DataPlaneLog.Refused(_logger, Id, Remote, failure.Code, failure.Message);
            else if (!Session.IsWelcomed && _tls?.Failure is { Length: > 0 } broken)
                DataPlaneLog.NoTls(_logger, Id, Remote, broken);
        }
        catch (TlsFailureException e)
        {
            if (e.Message.Length != 0)
                DataPlaneLog.NoTls(_logger, Id, Remote, e.Message);
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
        long timestamp = _time.GetTimestamp();
        TimeSpan unheard = _time.GetElapsedTime(Session.LastReceive, timestamp), unsent = _time.GetElapsedTime(_output.LastSend, timestamp);
        if (_ended.Task.IsCompleted)
            return null;
        if (Session.IsRefused)
        {
            TimeSpan quiet = unheard > unsent ? unheard : unsent;
            return quiet >= Linger ? Cut() : Linger - quiet;
        }
        if (!Session.IsWelcomed)
        {
            if (Session.IsAuthenticating)
                return _options.HandshakeTimeout;
            TimeSpan left = _options.HandshakeTimeout - _time.GetElapsedTime(_accepted, timestamp);
            return left <= TimeSpan.Zero ? Expire("said no Hello in time") : Earlier(left, _options.Heartbeat);
        }
        TimeSpan alive = (3 * _options.Heartbeat) - unheard;
        if (alive <= TimeSpan.Zero)
            return Expire("was silent for three heartbeats");
        TimeSpan? told = null;
        if (Session.HasEndToTell())
        {
            if (unsent >= Linger && _output.IsSending)
                return Expire("does not read, so that a stream which the broker has ended could not leave its topic");
            told = unsent < Linger ? Linger - unsent : Linger;
        }
        TimeSpan ping = _options.Heartbeat - unsent;
        if (ping <= TimeSpan.Zero)
        {
            _output.Answer(new PingFrame((ulong)timestamp));
            ping = _options.Heartbeat;
        }
        return Earlier(Earlier(ping, alive), told ?? alive);
    }

    /// <summary>Tells the peer that the broker is going.</summary>
    public void GoAway(TimeSpan timeLeft) =>
        _output.Answer(new GoAwayFrame(ErrorCode.ShuttingDown, (uint)timeLeft.TotalMilliseconds, "the broker is stopping"));

    /// <summary>Sends what is queued, then ends.</summary>
    public void Finish() =>
        _output.Answer(new ErrorFrame(ErrorCode.ShuttingDown, "the broker is stopping"), last: true);

    /// <summary>Cuts the connection.</summary>
    public void Abort() => _socket.Dispose();

    private static TimeSpan Earlier(TimeSpan a, TimeSpan b) => a < b ? a : b;

    private TimeSpan? Expire(string what)
    {
        DataPlaneLog.Expired(_logger, Id, Remote, what);
        return Cut();
    }

    /// <returns>Nothing more is due.</returns>
    private TimeSpan? Cut()
    {
        Abort();
        return null;
    }

    private void OnClosed()
    {
        Session.ReleaseStreams();
        _socket.Dispose();
        _input.Complete();
        _sender.Dispose();
        _tls?.Dispose();
        _housekeeping.Remove(this);
        _ended.TrySetResult();
    }
}

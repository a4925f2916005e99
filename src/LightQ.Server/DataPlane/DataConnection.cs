using System.Net;
using System.Net.Sockets;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server.Security;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.DataPlane;

#pragma warning disable CA1001 // The sender is disposed by the last turn: only then does nothing use it.
/// <summary>One accepted socket with its session and its output, from accept to the last release.</summary>
internal sealed class DataConnection
{
    /// <summary>How long a refused peer has to read the reason.</summary>
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(2);

    private readonly Socket _socket;
    private readonly SocketPipeReader _input;
    private readonly SocketFrameSender _sender;
    private readonly ConnectionOutput _output;
    private readonly DataPlaneOptions _options;
    private readonly TimeProvider _time;
    private readonly long _accepted;
    private readonly ILogger _logger;
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public DataConnection(
        Socket socket, LightQBroker broker, Authenticator authenticator, DataPlaneOptions options, DataPlaneBlocks blocks, uint id, TimeProvider time, ILogger logger)
    {
        _socket = socket;
        _options = options;
        _time = time;
        _logger = logger;
        Id = id;
        Connected = time.GetUtcNow();
        _accepted = time.GetTimestamp();
        Remote = socket.RemoteEndPoint;
        _input = new SocketPipeReader(socket, blocks.Receive);
        _sender = new SocketFrameSender(socket);
        Session = new Session(broker, authenticator, options, id, time);
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

    /// <summary>Completes when everything is released.</summary>
    public Task Ended => _ended.Task;

    /// <summary>Runs the connection to its end.</summary>
    public async Task RunAsync()
    {
        try
        {
            ProtocolException? failure = await Session.RunAsync(_input, _output).ConfigureAwait(false);
            if (failure is not null)
                DataPlaneLog.Refused(_logger, Id, Remote, failure.Code, failure.Message);
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
    public void KeepHouse()
    {
        long now = _time.GetTimestamp();
        TimeSpan unheard = _time.GetElapsedTime(Session.LastReceive, now), unsent = _time.GetElapsedTime(_output.LastSend, now);
        if (Session.IsRefused)
        {
            if (unheard >= Linger || unsent >= Linger)
                Abort();
        }
        else if (!Session.IsWelcomed)
        {
            if (_time.GetElapsedTime(_accepted, now) >= _options.HandshakeTimeout)
                Expire("said no Hello in time");
        }
        else if (unheard >= 3 * _options.Heartbeat)
        {
            Expire("was silent for three heartbeats");
        }
        else if (unsent >= Linger && _output.IsSending && Session.HasEndToTell())
        {
            Expire("does not read, so that a stream which the broker has ended could not leave its topic");
        }
        else if (unsent >= _options.Heartbeat)
        {
            _output.Answer(new PingFrame((ulong)now));
        }
    }

    /// <summary>Tells the peer that the broker is going.</summary>
    public void GoAway(TimeSpan timeLeft) =>
        _output.Answer(new GoAwayFrame(ErrorCode.ShuttingDown, (uint)timeLeft.TotalMilliseconds, "the broker is stopping"));

    /// <summary>Sends what is queued, then ends.</summary>
    public void Finish() =>
        _output.Answer(new ErrorFrame(ErrorCode.ShuttingDown, "the broker is stopping"), last: true);

    /// <summary>Cuts the connection.</summary>
    public void Abort() => _socket.Dispose();

    private void Expire(string what)
    {
        DataPlaneLog.Expired(_logger, Id, Remote, what);
        Abort();
    }

    private void OnClosed()
    {
        Session.ReleaseStreams();
        _socket.Dispose();
        _input.Complete();
        _sender.Dispose();
        _ended.TrySetResult();
    }
}

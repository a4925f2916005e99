using System.Buffers;
using System.IO.Pipelines;
using System.Net;
using LightQ.Broker;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server;
using LightQ.Server.Connections;
using LightQ.Server.DataPlane;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using LightQ.Server.Transport;
using LightQ.Tests.Fuzzing.Targets;
using Microsoft.Extensions.Logging.Abstractions;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;

namespace LightQ.Tests.Fuzzing;

/// <summary>A broker, and a session on it for each input: all of the data plane but the socket.</summary>
internal sealed class SessionHost : IDisposable
{
    public const string Topic = "t";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-fuzz-").FullName;
    private readonly LightQBroker _broker;
    private readonly ServerSecurity _security;
    private readonly ServerLimits _limits;
    private readonly DataPlaneBlocks _blocks = new();
    private readonly DataPlaneProtocol _protocol;
    private uint _sessions;

    public SessionHost()
        : this(features: 0) { }

    /// <summary>A broker that grants so many features.</summary>
    public SessionHost(ulong features)
    {
        _broker = LightQBroker
            .OpenAsync(_directory, new BrokerOptions { ScrubBytesPerSecond = 0 }, TimeProvider.System)
            .GetAwaiter()
            .GetResult();
        _broker.CreateTopic(Topic, new TopicSettings { MaxMessageBytes = 1024, RingBytes = 512 * 1024 });
        _security = new ServerSecurity(
            _broker,
            "secret",
            new AuthenticatorOptions(false, false, () => 1, () => 1),
            _broker.Refusals,
            new NoEvents(),
            TimeProvider.System
        );
        _limits = new ServerLimits(
            new LightQServerOptions(),
            _broker.Refusals,
            TimeProvider.System,
            NullLogger.Instance
        );
        _protocol = new DataPlaneProtocol(_broker, _security, _limits, TimeProvider.System) { Features = features };
    }

    /// <summary>What the last session answered.</summary>
    public IReadOnlyList<(FrameHeader Header, byte[] Body)> Answers { get; private set; } = [];

    /// <summary>Serves what a client sends, to its end.</summary>
    /// <returns>Whether the client was never refused.</returns>
    public bool Serve(ReadOnlySpan<byte> input)
    {
        var sender = new Sender();
        using var connection = new Connection();
        var peer = new PeerChannel(new IPEndPoint(IPAddress.Loopback, 1));
        IConnectionProtocol session = _protocol.Create(
            new ConnectionParts(++_sessions, peer, sender, _blocks, connection)
        );
        connection.Session = session;
        var received = PipeReader.Create(new ReadOnlySequence<byte>(input.ToArray()));
        ProtocolException? failure = session.RunAsync(received, refusal: null).GetAwaiter().GetResult();
        session.Output.InputEnded();
        ThrowUnless(connection.Closed.Wait(Patience), "a session ends with its input");
        ThrowUnless(connection.Crash is null, $"a turn does not fail: {connection.Crash}");
        ThrowUnless(_limits.Bodies.Taken == 0, "what was set aside for frames is given back");
        ErrorCode told = sender.Check();
        Answers = sender.Frames;
        // One that ends with its last byte may be gone before it is told.
        ThrowUnless(
            told == ErrorCode.None || (session.IsRefused && (failure is null || failure.Code == told)),
            "who is refused is told why"
        );
        return !session.IsRefused && session.IsWelcomed;
    }

    public void Dispose()
    {
        _security.Dispose();
        _broker.DisposeAsync().AsTask().GetAwaiter().GetResult();
        Directory.Delete(_directory, recursive: true);
    }

    private sealed class NoEvents : ISecurityEvents
    {
        public void Raise(SecurityEvent happened)
        {
            // Nobody listens.
        }

        public Task RaiseAsync(SecurityEvent happened) => Task.CompletedTask;
    }

    /// <summary>What a session and its output tell.</summary>
    private sealed class Connection : IConnectionEvents, IDisposable
    {
        public bool IsPeerGone => false;

        public IConnectionProtocol? Session { get; set; }

        public ManualResetEventSlim Closed { get; } = new();

        public Exception? Crash { get; private set; }

        public void OnLoggedIn(string user)
        {
            // No limit is shared here.
        }

        public void OnWelcomed()
        {
            // There is no socket whose blocks could be larger.
        }

        public void OnEndPending()
        {
            // Nobody looks after it.
        }

        public void OnStreamEnded(OutputStream stream) => Session!.Streams.Remove(stream);

        public void OnCrashed(Exception error) => Crash = error;

        public void OnClosed()
        {
            Session!.Streams.Release();
            Closed.Set();
        }

        public void Dispose() => Closed.Dispose();
    }

    /// <summary>Keeps what a session sends.</summary>
    private sealed class Sender : FrameSender
    {
        private readonly ArrayBufferWriter<byte> _sent = new();

        public List<(FrameHeader Header, byte[] Body)> Frames { get; } = [];

        public override SendResult TrySend(ReadOnlyMemory<byte> head, ReadOnlyMemory<byte> tail)
        {
            _sent.Write(head.Span);
            _sent.Write(tail.Span);
            return SendResult.Sent;
        }

        /// <summary>What a broker sends is always whole frames that a client can read.</summary>
        /// <returns>The error it ends with; none if it does not.</returns>
        public ErrorCode Check()
        {
            var reader = new FrameReader { MaxFrameBytes = ProtocolLimits.DefaultFrameBytes };
            var left = new ReadOnlySequence<byte>(_sent.WrittenMemory);
            ErrorCode told = ErrorCode.None;
            while (reader.TryRead(ref left, out FrameHeader header, out ReadOnlySpan<byte> body))
            {
                ThrowUnless(
                    FrameTargets.Body(header.Type, header.Flags, body),
                    $"a {header.Type} frame of the broker is one"
                );
                Frames.Add((header, body.ToArray()));
                told = header.Type == FrameType.Error ? FrameCodec.Read<ErrorFrame>(body).Code : told;
            }
            ThrowUnless(left.IsEmpty, "a broker sends whole frames");
            return told;
        }

        public override void EndSending()
        {
            // There is no socket.
        }

        public override void Abort()
        {
            // There is no socket.
        }

        public override void Dispose()
        {
            // There is no socket.
        }
    }
}

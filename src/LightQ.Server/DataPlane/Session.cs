using System.Buffers;
using System.IO.Pipelines;
using LightQ.Broker;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Server.Connections;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using LightQ.Server.Tls;

namespace LightQ.Server.DataPlane;

/// <summary>
/// The protocol of one connection: reads frames, checks that its state allows them, and hands them to the engine.
/// </summary>
/// <remarks>
/// Reads from a <see cref="PipeReader"/> and answers through a <see cref="ConnectionOutput"/>: it knows no sockets.
/// Frames are handled one after the other; what may touch the disk (durable topics, named producers) is done on the
/// pool while this connection's reading waits for it.
/// </remarks>
internal sealed class Session : IConnectionProtocol
{
    /// <summary>
    /// Receives handled without a wait in between; then other connections of this socket thread get their turn.
    /// </summary>
    private const int ReadsInOneGo = 16;

    /// <summary>Ranges of a Settle whose outcomes fit on the stack.</summary>
    private const int FewRanges = 64;

    private readonly IConnectionEvents _events;
    private readonly LightQBroker _broker;
    private readonly ServerSecurity _security;
    private readonly ServerLimits _limits;
    private readonly FrameAssembly _assembly;
    private readonly BodyAccount _account;
    private readonly TimeProvider _time;
    private readonly SessionAnswers _answers;
    private readonly FrameReader _frames = new();
    private StreamOpener? _opener; // Once it is welcomed.
    private List<ProducerStream>? _touched;
    private ProducerStream? _lastProducer;
    private bool _welcomed;
    private bool _refused;
    private ulong _features; // In force.
    private int _stepsTold;
    private Principal? _principal;
    private ProtocolException? _revoked;
    private volatile bool _isAuthenticating;
    private volatile bool _isReading;

    /// <summary>What the Ping of a heartbeat carries: stream 0 is the connection.</summary>
    private const ulong Sign = 0;

    /// <summary>
    /// In a cluster another broker may serve the client: three of these, and either side knows that nothing arrives.
    /// </summary>
    private static readonly TimeSpan ClusterHeartbeat = TimeSpan.FromSeconds(1);

    public Session(
        in ConnectionParts connection,
        IOutputFormat format,
        LightQBroker broker,
        ServerSecurity security,
        ServerLimits limits,
        TimeProvider time
    )
    {
        _events = connection.Events;
        _broker = broker;
        _security = security;
        _limits = limits;
        _time = time;
        _account = new BodyAccount(limits, connection.Peer.Remote?.Address, free: 0);
        _assembly = new FrameAssembly(limits, _account, connection.Blocks, time);
        Peer = connection.Peer;
        Output = new ConnectionOutput(connection, format, limits, time);
        _answers = new SessionAnswers(Output, limits);
        LastReceive = time.GetTimestamp();
    }

    /// <summary>The features that this broker grants beyond those that every one does.</summary>
    public ulong Offered { get; init; }

    /// <inheritdoc/>
    public ConnectionOutput Output { get; }

    /// <inheritdoc/>
    public PeerChannel Peer { get; set; }

    /// <inheritdoc/>
    public TimeSpan? ClockSkew { get; private set; }

    /// <inheritdoc/>
    public bool HasNewTime => (_features & ProtocolFeatures.BrokerClock) != 0 && _broker.Clock.StepsTaken != _stepsTold;

    /// <inheritdoc/>
    public TimeSpan? Heartbeat =>
        (_features & ProtocolFeatures.Cluster) != 0 && _limits.DataPlane.Heartbeat > ClusterHeartbeat
            ? ClusterHeartbeat
            : null;

    /// <inheritdoc/>
    public string ClientName { get; private set; } = "";

    /// <inheritdoc/>
    public bool IsWelcomed => Volatile.Read(ref _welcomed);

    /// <inheritdoc/>
    public bool IsAuthenticating => _isAuthenticating;

    /// <inheritdoc/>
    public bool IsRefused => Volatile.Read(ref _refused);

    /// <inheritdoc/>
    public bool IsWaiting => _assembly.IsWaiting;

    /// <inheritdoc/>
    public long LastReceive { get; private set; }

    /// <inheritdoc/>
    public ConnectionStreams Streams { get; private set; } = ConnectionStreams.None;

    /// <inheritdoc/>
    public bool IsTooSlow(out long rate) => _assembly.IsTooSlow(out rate);

    /// <inheritdoc/>
    public void Ping()
    {
        long time = 0;
        if (HasNewTime)
            (_stepsTold, time) = (_broker.Clock.StepsTaken, UnixMicroseconds.From(_broker.Clock.GetUtcNow()));
        Output.Answer(new FrameAnswer<PingFrame>(new PingFrame(Sign, time), 0, 0));
    }

    /// <inheritdoc/>
    public void GoAway(TimeSpan timeLeft)
    {
        var going = new GoAwayFrame(ErrorCode.ShuttingDown, (uint)timeLeft.TotalMilliseconds, "the broker is stopping");
        Output.Answer(new FrameAnswer<GoAwayFrame>(going, 0, 0));
    }

    /// <inheritdoc/>
    public void Finish() => EndWith(new ErrorFrame(ErrorCode.ShuttingDown, "the broker is stopping"));

    /// <inheritdoc/>
    public void Review()
    {
        if (Volatile.Read(ref _principal) is not { } principal)
            return;
        if (_security.Access.EndOf(principal) is { } end)
        {
            if (Interlocked.CompareExchange(ref _revoked, new ProtocolException(end.Code, end.Message), null) is null)
                Refuse(_revoked);
            return;
        }
        foreach (OutputStream stream in Streams.All())
            _security.Access.Review(principal, stream);
    }

    /// <inheritdoc/>
    public bool TryEnd(ProtocolException reason)
    {
        if (!_isReading)
            return false;
        _answers.IsLogged = true;
        if (Interlocked.CompareExchange(ref _revoked, reason, null) is null)
            Refuse(reason);
        return true;
    }

    /// <inheritdoc/>
    public async Task<ProtocolException?> RunAsync(PipeReader input, ProtocolException? refusal)
    {
        _isReading = true;
        ProtocolException? failure = refusal;
        if (refusal is not null)
            Refuse(refusal);
        int withoutWaiting = 0;
        while (true)
        {
            ValueTask<ReadResult> reading = input.ReadAsync();
            if (!reading.IsCompleted)
            {
                withoutWaiting = 0;
            }
            else if (++withoutWaiting == ReadsInOneGo)
            {
                withoutWaiting = 0;
                await Task.Yield();
            }
            ReadResult read = await reading.ConfigureAwait(false);
            LastReceive = _time.GetTimestamp();
            _assembly.Pause();
            ReadOnlySequence<byte> left = read.Buffer;
            failure ??= Volatile.Read(ref _revoked);
            if (failure is not null)
            {
                left = left.Slice(left.End);
            }
            else
            {
                try
                {
                    while (HandleFrames(ref left) is { } slow)
                        await slow.ConfigureAwait(false);
                    if (_assembly.Continue(left, left.Length != read.Buffer.Length, _frames) is { } found)
                    {
                        throw _answers.LimitMet(
                            ErrorCode.ResourceExhausted,
                            _limits.DataPlaneRefusals,
                            nameof(DataPlaneOptions.MaxAssemblyBytes),
                            _limits.DataPlane.MaxAssemblyBytes,
                            found
                        );
                    }
                }
                catch (ProtocolException e)
                {
                    failure = ReasonOf(e, read.Buffer.FirstSpan);
                    left = left.Slice(left.End);
                    Refuse(failure);
                }
            }
            input.AdvanceTo(left.Start, left.End);
            if (read.IsCompleted)
            {
                _assembly.End();
                return _answers.IsLogged ? null : failure;
            }
        }
    }

    private ProtocolException ReasonOf(ProtocolException error, ReadOnlySpan<byte> received)
    {
        if (!_welcomed)
        {
            return FirstBytes.AreTls(received)
                ? new ProtocolException(ErrorCode.TlsFailed, "The client speaks TLS, and this port does not.")
                : error;
        }

        return error.Code == ErrorCode.FrameTooLarge
            ? _answers.LimitMet(
                ErrorCode.FrameTooLarge,
                _limits.DataPlaneRefusals,
                nameof(DataPlaneOptions.MaxFrameBytes),
                _frames.MaxFrameBytes,
                error.Message.TrimEnd('.')
            )
            : error;
    }

    private void Refuse(ProtocolException reason)
    {
        Volatile.Write(ref _refused, true);
        _events.OnEndPending();
        EndWith(new ErrorFrame(reason.Code, reason.Message));
    }

    private void EndWith(in ErrorFrame error) => Output.Answer(new FrameAnswer<ErrorFrame>(error, 0, 0), last: true);

    /// <summary>
    /// Handles the whole frames in <paramref name="left"/>, flushes each producer that published once, and then runs
    /// what that posted.
    /// </summary>
    /// <returns>Work that has to be awaited before the next frame; null when all are handled.</returns>
    private Task? HandleFrames(ref ReadOnlySequence<byte> left)
    {
        using (TurnScope.Enter())
        {
            Task? slow = null;
            try
            {
                while (slow is null && _frames.TryRead(ref left, out FrameHeader header, out ReadOnlySpan<byte> body))
                    slow = Handle(header, body);
            }
            finally
            {
                FlushTouched();
            }
            return slow;
        }
    }

    private void FlushTouched()
    {
        if (_touched is null)
            return;
        foreach (ProducerStream producer in _touched)
            producer.Flush();
        _touched.Clear();
    }

    private Task? Handle(in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (!_welcomed)
        {
            return header.Type == FrameType.Hello
                ? Greet(FrameCodec.Read<HelloFrame>(body))
                : throw Unexpected(header.Type);
        }

        switch (header.Type)
        {
            case FrameType.Publish:
                Publish(header.Stream, body);
                return null;
            case FrameType.Credit:
                uint bytes = FrameCodec.Read<CreditFrame>(body).Bytes;
                (Known(header.Stream) as Subscription)?.Grant(bytes);
                return null;
            case FrameType.Settle:
                Settle(header.Stream, header.Tag, new SettleFrame(body));
                return null;
            case FrameType.Window when (_features & ProtocolFeatures.Window) != 0:
                Resize(header.Stream, FrameCodec.Read<WindowFrame>(body));
                return null;
            case FrameType.Ping:
                _answers.Answer(new PongFrame(FrameCodec.Read<PingFrame>(body).Payload));
                return null;
            case FrameType.Pong:
                OnPong(FrameCodec.Read<PongFrame>(body).Payload);
                return null;
            case FrameType.Close:
                Known(header.Stream)?.RequestClose(StreamClose.Ordinary);
                return null;
            case FrameType.OpenProducer:
                return _opener!.OpenProducer(FrameCodec.Read<OpenProducerFrame>(body), header.Stream, header.Tag);
            case FrameType.Subscribe:
                return _opener!.Subscribe(FrameCodec.Read<SubscribeFrame>(body), header.Stream, header.Tag);
            default:
                throw Unexpected(header.Type);
        }
    }

    private void Publish(uint id, ReadOnlySpan<byte> body)
    {
        ProducerStream? producer = _lastProducer;
        if (producer?.Id != id || producer.CloseRequested is not null)
        {
            // A stream that has just ended may still be written to by a client that does not know it yet.
            producer = Known(id) as ProducerStream;
            if (producer is null)
                return;
            _lastProducer = producer;
        }
        if (!producer.Publish(body))
        {
            throw _answers.LimitMet(
                ErrorCode.WindowExceeded,
                _broker.Refusals,
                nameof(BrokerOptions.PublishWindowBytes),
                _broker.Options.PublishWindowBytes,
                $"Stream {id} sent more than its publish window allows"
            );
        }

        _touched ??= [];
        if (!_touched.Contains(producer))
            _touched.Add(producer);
    }

    /// <summary>
    /// The answer to a heartbeat, or to what stood behind a producer stream's acks: then they have been read.
    /// </summary>
    private void OnPong(ulong payload) =>
        (Streams.Find((uint)payload) as ProducerStream)?.OnEcho((uint)(payload >> 32));

    private void Settle(uint id, uint tag, SettleFrame frame)
    {
        if (Known(id) is not Subscription subscription)
            return;
        SettledRange[]? rented = frame.Count > FewRanges ? ArrayPool<SettledRange>.Shared.Rent(frame.Count) : null;
        Span<SettledRange> settled = rented ?? stackalloc SettledRange[FewRanges];
        bool answer = tag != 0;
        for (int i = 0; i < frame.Count; i++)
        {
            SettleRange range = frame[i];
            SettleOutcome outcome = subscription.Settle(range, frame.ReasonUtf8);
            settled[i] = new SettledRange(outcome, range.DeliveryId, range.FirstOffset, range.Count);
            answer |= outcome != SettleOutcome.Done && range.Kind != SettleKind.Begin;
        }
        bool isRead = !answer || Output.Answer(new SettledAnswer(id, tag, settled[..frame.Count]));
        if (rented is not null)
            ArrayPool<SettledRange>.Shared.Return(rented);
        _answers.ThrowUnless(isRead);
    }

    private void Resize(uint id, in WindowFrame window)
    {
        if (Known(id) is not { } stream || (stream as Subscription)?.TryResize(window) == true)
            return;
        stream.RequestClose(
            new StreamClose(
                ErrorCode.InvalidArgument,
                "Only a member of a group with explicit settlement has a window."
            )
        );
    }

    private Task? Greet(HelloFrame hello)
    {
        if (hello.Time != 0)
            ClockSkew = UnixMicroseconds.ToTime(hello.Time) - _broker.Clock.GetUtcNow();
        if (hello.MinVersion > ProtocolLimits.Version || hello.MaxVersion < ProtocolLimits.Version)
        {
            throw new ProtocolException(
                ErrorCode.UnsupportedVersion,
                $"This broker speaks version {ProtocolLimits.Version}; the client {hello.MinVersion} to "
                    + $"{hello.MaxVersion}."
            );
        }

        if (hello.Features >> 32 != 0)
        {
            throw new ProtocolException(
                ErrorCode.UnsupportedVersion,
                "The client requires a feature that this broker does not have."
            );
        }

        _isAuthenticating = true;
        // To refuse somebody takes as long as many messages, and this thread has those of other connections to carry.
        return Task.Run(() => GreetAsync(hello));
    }

    private async Task GreetAsync(HelloFrame hello)
    {
        try
        {
            Volatile.Write(
                ref _principal,
                await _security
                    .Authenticator.AuthenticateAsync(hello.Mechanism, hello.Credentials, Peer)
                    .ConfigureAwait(false)
            );
        }
        catch (BrokerException e)
        {
            throw new ProtocolException(e.Code, e.Message);
        }
        finally
        {
            _isAuthenticating = false;
        }
        if (_broker.IsStopping)
            throw new ProtocolException(ErrorCode.ShuttingDown, "The broker is stopping and takes no new clients.");
        if ((_account.User = Output.Source = _principal!.Source) is { } user)
            _events.OnLoggedIn(user);
        ClientName = hello.ClientName.Length <= 200 ? hello.ClientName : hello.ClientName[..200];
        DataPlaneOptions options = _limits.DataPlane;
        _frames.MaxFrameBytes = options.MaxFrameBytes;
        Streams = new ConnectionStreams();
        Output.User = _principal!.Number;
        _stepsTold = _broker.Clock.StepsTaken;
        const ulong Known = ProtocolFeatures.Window | ProtocolFeatures.RefusedAlone | ProtocolFeatures.BrokerClock;
        _features = hello.Features & (Offered | Known);
        _answers.Answer(
            new WelcomeFrame(
                ProtocolLimits.Version,
                _features,
                _broker.Id,
                Output.ConnectionId,
                (uint)options.MaxFrameBytes,
                (uint)(options.MaxFrameBytes - FrameHeader.Size),
                (uint)(options.MaxFrameBytes - FrameHeader.Size - ProtocolLimits.BatchOverheadBytes),
                (uint)(Heartbeat ?? options.Heartbeat).TotalMilliseconds,
                UnixMicroseconds.From(_broker.Clock.GetUtcNow()),
                _security.Authenticator.TokenLeftOf(_principal!) is { } left
                    ? UnixMicroseconds.From(_broker.Clock.GetUtcNow() + left)
                    : 0
            )
        );
        _opener = new StreamOpener(
            _broker,
            _security.Access,
            _limits,
            _answers,
            Output,
            Streams,
            _principal!,
            _features
        );
        Volatile.Write(ref _welcomed, true);
        _events.OnWelcomed();
        Review(); // What changed while the password was hashed has not met it.
    }

    /// <summary>
    /// The stream that a frame is for. Null if it has ended, or never was: a client that made a mistake gets one error.
    /// </summary>
    private OutputStream? Known(uint id)
    {
        OutputStream? stream = Streams.Find(id);
        if (stream is null && id != 0 && !Streams.MayBeLate(id))
            _opener!.Refuse(ErrorCode.InvalidStream, $"There is no stream {id}: it was never opened.", id, tag: 0);
        return stream;
    }

    private static ProtocolException Unexpected(FrameType type) =>
        new(ErrorCode.UnexpectedFrame, $"A {type} frame is not allowed here.");
}

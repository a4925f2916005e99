using LightQ.Bench.Figures;
using LightQ.Bench.Nats;
using LightQ.Bench.Processes;
using LightQ.Bench.Relay;
using LightQ.Bench.Roles;
using LightQ.Client;

namespace LightQ.Bench.Sessions;

/// <summary>
/// The processes of a bench, and runs through them. Every process serves all runs, so that product and yardstick meet
/// equally warm code.
/// </summary>
internal sealed class BenchSession : IAsyncDisposable
{
    /// <summary>
    /// What a consumer that catches up finds at most, with what messages and segments take besides bodies: little
    /// enough to be in the page cache.
    /// </summary>
    public const long MostBacklogBytes = 2L << 30;

    /// <summary>
    /// What a durable topic keeps: enough that its reader never falls behind it, little enough that its segments come
    /// round soon.
    /// </summary>
    private const long DurableRetentionBytes = 512L * 1024 * 1024;

    /// <summary>
    /// The same for a topic whose consumer begins when a run's messages are all there: twice a run, so that none of
    /// them expires before it is read.
    /// </summary>
    private const long BacklogRetentionBytes = 2 * MostBacklogBytes;

    // How long to wait after the consumer's end; the consumer has waited for a while itself by then.
    private static readonly TimeSpan ProducerPatience = TimeSpan.FromSeconds(30);

    private readonly List<IAsyncDisposable> _children = [];
    private readonly BenchSettings _settings;
    private BenchCertificate? _certificate;
    private EmbeddedBroker? _broker;
    private RoleProcess? _producer;
    private RoleProcess? _consumer;
    private RoleProcess? _latency;
    private LightQClient? _client;
    private LightQClient? _consumeClient;
    private string _topic = "";
    private string? _durableTopic;
    private string _server = "";
    private string? _consumeServer;
    private string _relayIn = "";
    private string _relayOut = "";
    private string _nats = "";

    private BenchSession(BenchSettings settings) => _settings = settings;

    /// <summary>What the own broker has used; nothing for someone else's.</summary>
    public ProcessUsage BrokerUsage => _broker?.Usage ?? default;

    /// <summary>Starts what the settings ask for.</summary>
    public static async Task<BenchSession> StartAsync(BenchSettings settings, CancellationToken cancellationToken)
    {
        var session = new BenchSession(settings);
        try
        {
            await session.StartBrokerAsync(cancellationToken);
            await session.StartNatsAsync(cancellationToken);
            return session;
        }
        catch
        {
            await session.DisposeAsync();
            throw;
        }
    }

    /// <summary>Moves messages from a producer's process to a consumer's as fast as they go.</summary>
    public async Task<RunOutcome> RunThroughputAsync(
        LoadTarget target,
        LoadShape shape,
        long messages,
        CancellationToken cancellationToken
    )
    {
        _producer ??= Add(RoleProcess.Start(ProduceRole.Name));
        _consumer ??= Add(RoleProcess.Start(ConsumeRole.Name));
        RunSpec spec = await BeginAsync(target, shape, messages, cancellationToken);
        if (!_settings.CatchUp || target != LoadTarget.LightQ)
            return await GuardAsync(target, spec, MoveAsync(spec, cancellationToken), cancellationToken);
        Task<RunSpec> filling = FillAsync(spec, cancellationToken);
        if (_broker is not null)
            await _broker.WhileAliveAsync(filling);
        spec = await filling;
        return await GuardAsync(target, spec, CatchUpAsync(spec, cancellationToken), cancellationToken);
    }

    /// <summary>Sends messages at a rate and measures how long each one takes.</summary>
    public async Task<RunOutcome> RunLatencyAsync(
        LoadTarget target,
        LoadShape shape,
        double rate,
        TimeSpan duration,
        CancellationToken cancellationToken
    )
    {
        _latency ??= Add(RoleProcess.Start(LatencyRole.Name));
        long warmUp = (long)Math.Ceiling(rate / 2);
        RunSpec spec = await BeginAsync(
            target,
            shape,
            warmUp + (long)Math.Ceiling(rate * duration.TotalSeconds),
            cancellationToken
        );
        spec = spec with
        {
            Rate = rate,
            WarmUpMessages = warmUp,
            StampActual = _settings.StampActual,
            Api = LoadApi.Batch,
        };
        return await GuardAsync(target, spec, MeasureAsync(spec, cancellationToken), cancellationToken);
    }

    /// <summary>Fills in what the product's runs say together.</summary>
    /// <param name="result">What was measured, and how the yardstick compares.</param>
    /// <param name="product">The product's runs.</param>
    public TResult Summarize<TResult>(TResult result, IReadOnlyList<RunOutcome> product)
        where TResult : RateResult =>
        (TResult)(
            (RateResult)result with
            {
                MessagesPerSecond = Math.Round(Median.Of(product.Select(o => o.MessagesPerSecond)), 1),
                Lost = product.Sum(o => o.Consumed.Lost),
                Duplicated = product.Sum(o => o.Consumed.Duplicated),
                Reordered = product.Sum(o => o.Consumed.Reordered),
                Damaged = product.Sum(o => o.Consumed.Damaged),
                BrokerCpuSeconds = _broker is null
                    ? null
                    : Math.Round(Median.Of(product.Select(o => o.BrokerCpuSeconds)), 3),
                BrokerPeakRssBytes = _broker is null ? null : BrokerUsage.PeakBytes,
                Runs = [.. product.Select(o => Math.Round(o.MessagesPerSecond))],
            }
        );

    /// <summary>
    /// How many messages of the current run have been sent to its consumer; 0 when that cannot be told now.
    /// </summary>
    public async Task<long> CountDeliveredAsync(CancellationToken cancellationToken)
    {
        try
        {
            return (await _client!.Stats.GetTopicAsync(_topic, cancellationToken)).MessagesSent;
        }
        catch (LightQException)
        {
            // Between two runs there is no topic.
            return 0;
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_client is not null)
        {
            if (_settings.Server is not null && _durableTopic is not null)
                await DeleteAsync(_durableTopic, CancellationToken.None);
            if (_consumeClient is not null)
                await _consumeClient.DisposeAsync();
            await _client.DisposeAsync();
        }
        for (int i = _children.Count - 1; i >= 0; i--)
            await _children[i].DisposeAsync();
        _children.Clear();
        _certificate?.Dispose();
    }

    private async Task StartBrokerAsync(CancellationToken cancellationToken)
    {
        if (_settings.Tls is not null)
            _certificate = BenchCertificate.Create(_settings.Server is null ? _settings.Tls : null);
        if (_settings.Server is null)
        {
            _broker = Add(
                await EmbeddedBroker.StartAsync(_settings.DataDirectory, cancellationToken, certificate: _certificate)
            );
        }

        _server =
            _settings.Server is { } running ? _settings.Tls?.AddTo(running) ?? running
            : _certificate is { } own ? new BenchTls(own.CaFile, null, null).AddTo(_broker!.ConnectionString)
            : _broker!.ConnectionString;
        _client = new LightQClient(LightQClientOptions.Parse(_server));
        // Report an address without a broker, or of another version, before anything is started.
        await _client.ConnectAsync(cancellationToken);
        if (_settings.ConsumeServer is not { } other)
            return;
        _consumeServer = _settings.Tls?.AddTo(other) ?? other;
        _consumeClient = new LightQClient(LightQClientOptions.Parse(_consumeServer));
        await _consumeClient.ConnectAsync(cancellationToken);
    }

    private async Task StartRelayAsync(CancellationToken cancellationToken)
    {
        if (_relayIn.Length > 0)
            return;
        RoleProcess relay = Add(
            RoleProcess.Start(RelayRole.Name, arguments: _certificate is { } c ? [c.CertificateFile, c.KeyFile] : [])
        );
        RoleMessage listening = await relay.ExpectAsync(RoleEvent.Listening, cancellationToken);
        _relayIn = $"127.0.0.1:{listening.Ports![0]}";
        _relayOut = $"127.0.0.1:{listening.Ports[1]}";
    }

    private async Task StartNatsAsync(CancellationToken cancellationToken)
    {
        if (!_settings.AgainstNats)
            return;
        _nats = _settings.NatsUrl is { } url
            ? NatsAddress.Parse(url)
            : Add(await NatsServer.StartAsync(cancellationToken)).Endpoint;
    }

    private async Task<RunSpec> BeginAsync(
        LoadTarget target,
        LoadShape shape,
        long messages,
        CancellationToken cancellationToken
    )
    {
        // A durable topic is measured in its steady state: one topic for all runs, whose expired segments are used
        // again.
        bool isDurable = shape.Kind == TopicKind.Durable;
        string name = _topic = isDurable ? _durableTopic ??= NewTopicName() : NewTopicName();
        if (target == LoadTarget.Relay)
            await StartRelayAsync(cancellationToken);
        if (target == LoadTarget.LightQ)
        {
            var topic = new TopicSpec(name)
            {
                Kind = shape.Kind,
                RetentionBytes = isDurable
                    ? _settings.CatchUp
                        ? BacklogRetentionBytes
                        : DurableRetentionBytes
                    : null,
            };
            await _client!.Topics.EnsureAsync(topic, cancellationToken);
            if (_consumeClient is not null)
                await _consumeClient.Topics.EnsureAsync(topic, cancellationToken);
        }
        return new RunSpec
        {
            Target = target,
            Endpoint = target switch
            {
                LoadTarget.Relay => _relayIn,
                LoadTarget.Nats => _nats,
                _ => _server,
            },
            ConsumeEndpoint = target switch
            {
                LoadTarget.Relay => _relayOut,
                LoadTarget.LightQ => _consumeServer,
                _ => null,
            },
            RelayCaFile = target == LoadTarget.Relay ? _certificate?.CaFile : null,
            HistogramFile = target == LoadTarget.LightQ ? _settings.HistogramFile : null,
            Topic = name,
            Size = shape.Size,
            Messages = messages,
            Api = _settings.Api,
            Ack = _settings.Ack,
            InFlight = _settings.InFlight,
            MeasureLatency = _settings.MeasureLatency,
        };
    }

    /// <summary>
    /// Runs, counts what the broker used meanwhile, and cleans up behind. A broker that dies ends the run at once.
    /// </summary>
    private async Task<RunOutcome> GuardAsync(
        LoadTarget target,
        RunSpec spec,
        Task<RunOutcome> run,
        CancellationToken cancellationToken
    )
    {
        double cpuBefore = BrokerUsage.CpuSeconds;
        if (_broker is not null)
            await _broker.WhileAliveAsync(run);
        if (target != LoadTarget.LightQ)
            return await run;
        RunOutcome outcome = (await run) with { BrokerCpuSeconds = BrokerUsage.CpuSeconds - cpuBefore };
        if (spec.Topic != _durableTopic)
            await DeleteAsync(spec.Topic, cancellationToken);
        return outcome;
    }

    private async Task DeleteAsync(string topic, CancellationToken cancellationToken)
    {
        await _client!.Topics.DeleteAsync(topic, cancellationToken);
        try
        {
            if (_consumeClient is not null)
                await _consumeClient.Topics.DeleteAsync(topic, cancellationToken);
        }
        catch (LightQException e) when (e.Code == ErrorCode.UnknownTopic)
        {
            // Both addresses are the same broker's.
        }
    }

    private static string NewTopicName() => $"bench-{Guid.NewGuid():N}";

    private async Task<RunOutcome> MoveAsync(RunSpec spec, CancellationToken cancellationToken)
    {
        await _consumer!.SendAsync(spec, RunJson.Default.RunSpec);
        await _consumer.ExpectAsync(RoleEvent.Ready, cancellationToken);
        await _producer!.SendAsync(spec, RunJson.Default.RunSpec);
        await _producer.ExpectAsync(RoleEvent.Ready, cancellationToken);
        await _producer.SendAsync(ProduceRole.Go);
        Task<RoleMessage> producing = _producer.ExpectAsync(RoleEvent.Done, cancellationToken);
        Task<RoleMessage> consuming = _consumer.ExpectAsync(RoleEvent.Done, cancellationToken);
        // Whichever fails first ends the run.
        await await Task.WhenAny(producing, consuming);
        RoleMessage consumed = await consuming;
        if (await Task.WhenAny(producing, Task.Delay(ProducerPatience, cancellationToken)) != producing)
        {
            throw new BenchException(
                BenchFailure.Failed,
                $"The producer did not finish: {consumed.Lost:N0} message{(consumed.Lost == 1 ? "" : "s")} never "
                    + $"arrived. Did the broker go away?"
            );
        }

        return RunOutcome.Of(await producing, consumed);
    }

    /// <summary>Puts the messages into the topic before there is a consumer.</summary>
    /// <returns>The run that reads them.</returns>
    private async Task<RunSpec> FillAsync(RunSpec spec, CancellationToken cancellationToken)
    {
        long end = (await _client!.Topics.GetAsync(spec.Topic, cancellationToken)).EndOffsets[0];
        await _producer!.SendAsync(spec, RunJson.Default.RunSpec);
        await _producer.ExpectAsync(RoleEvent.Ready, cancellationToken);
        await _producer.SendAsync(ProduceRole.Go);
        await _producer.ExpectAsync(RoleEvent.Done, cancellationToken);
        return spec with { StartOffset = end };
    }

    private async Task<RunOutcome> CatchUpAsync(RunSpec spec, CancellationToken cancellationToken)
    {
        await _consumer!.SendAsync(spec, RunJson.Default.RunSpec);
        await _consumer.ExpectAsync(RoleEvent.Ready, cancellationToken);
        return RunOutcome.OfBacklog(await _consumer.ExpectAsync(RoleEvent.Done, cancellationToken));
    }

    private async Task<RunOutcome> MeasureAsync(RunSpec spec, CancellationToken cancellationToken)
    {
        await _latency!.SendAsync(spec, RunJson.Default.RunSpec);
        RoleMessage done = await _latency.ExpectAsync(RoleEvent.Done, cancellationToken);
        if (done.Messages == 0)
        {
            throw new BenchException(
                BenchFailure.Failed,
                "No message arrived. Publisher and subscriber must reach the same broker: brokers do not pass "
                    + "messages on to each other."
            );
        }

        return new RunOutcome { Consumed = done, MessagesPerSecond = done.ActualRate ?? 0 };
    }

    private T Add<T>(T child)
        where T : IAsyncDisposable
    {
        _children.Add(child);
        return child;
    }
}

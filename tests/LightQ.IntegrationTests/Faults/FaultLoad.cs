using LightQ.Client;
using LightQ.Tests.Shared;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// The load of the crash rows: four producers of all ack levels, idempotent and not, four consumers, and topics that
/// come and go, on one topic that keeps everything and one whose small segments roll, expire and are used again all the
/// time.
/// </summary>
internal sealed class FaultLoad : ICrashLoad
{
    /// <summary>
    /// The figure that shows that crashes hit what is under way: acks that promise less are lost now and then.
    /// </summary>
    public const string Control = "lost as the ack allows";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly FaultTopic _kept,
        _recycled;
    private readonly FaultProducer[] _producers;
    private readonly FaultConsumer[] _consumers;
    private readonly TopicChurn _churn;
    private readonly CancellationTokenSource _end = new();
    private readonly Durability _survives;
    private LightQClient? _client;

    /// <param name="variant">Even or odd: which of the producers are idempotent.</param>
    /// <param name="survives">The ack level that survives the fault.</param>
    /// <param name="partitions">Of each topic.</param>
    /// <param name="mayFail">Whether the fault makes logs fail before the broker ends.</param>
    public FaultLoad(int variant, Durability survives, int partitions = 1, bool mayFail = false)
    {
        _survives = survives;
        var durable = new TopicSpec("kept")
        {
            Kind = TopicKind.Durable,
            Partitions = partitions,
            MaxMessageBytes = 16 * 1024,
            SegmentBytes = 512 * 1024,
        };
        _kept = new FaultTopic(durable);
        _recycled = new FaultTopic(
            durable with
            {
                Name = "recycled",
                MaxMessageBytes = 8 * 1024,
                SegmentBytes = 288 * 1024,
                RetentionBytes = 1024 * 1024,
            }
        );
        (FaultTopic Topic, Durability Level)[] plan =
        [
            (_kept, Durability.Fsync),
            (_kept, Durability.Written),
            (_recycled, Durability.Written),
            (_recycled, Durability.Memory),
        ];
        _producers =
        [
            .. plan.Select(
                (p, i) => new FaultProducer(i, p.Topic.Spec.Name, p.Topic.Ledger, Options(p.Level, i, variant), mayFail)
            ),
        ];
        _consumers =
        [
            new FaultConsumer("kept", _kept.Ledger, null, mayLoseToRetention: false, partitions),
            new FaultConsumer("kept", _kept.Ledger, "group", mayLoseToRetention: false, partitions),
            new FaultConsumer("recycled", _recycled.Ledger, null, mayLoseToRetention: true, partitions),
            new FaultConsumer("recycled", _recycled.Ledger, null, mayLoseToRetention: true, partitions),
        ];
        _churn = new TopicChurn(_kept.Ledger, "churn-");
    }

    /// <inheritdoc/>
    public IEnumerable<string> Violations => _kept.Ledger.Violations.Concat(_recycled.Ledger.Violations);

    /// <summary>At once: its crashes also come before anything is published.</summary>
    public Task UnderWay => Task.CompletedTask;

    /// <inheritdoc/>
    public async Task BeginAsync(FaultBroker broker)
    {
        _client = broker.Connect();
        await _client.Topics.CreateAsync(_kept.Spec);
        await _client.Topics.CreateAsync(_recycled.Spec);
    }

    /// <inheritdoc/>
    public Task RunAsync(Random random, CancellationToken stop)
    {
        foreach (FaultConsumer consumer in _consumers)
            consumer.Start(_client!, _end.Token);
        int seed = random.Next();
        IEnumerable<Task> producers = _producers.Select(
            (p, i) => Task.Run(() => p.RunAsync(_client!, new Random(seed + i), stop), CancellationToken.None)
        );
        return Task.WhenAll(
            producers.Append(
                Task.Run(() => _churn.RunAsync(_client!, new Random(seed - 1), stop), CancellationToken.None)
            )
        );
    }

    /// <inheritdoc/>
    public async Task VerifyAsync()
    {
        foreach (FaultConsumer consumer in _consumers)
            consumer.Start(_client!, _end.Token);
        foreach (FaultProducer producer in _producers)
            await producer.SettleAsync(Patience);
        await _kept.VerifyAsync(_client!, _survives);
        await _recycled.VerifyAsync(_client!, _survives);
        await _churn.VerifyAsync(_client!);
    }

    /// <inheritdoc/>
    public async Task VerifyAllAsync()
    {
        await _kept.VerifyAllAsync(_client!);
        await _recycled.VerifyAllAsync(_client!);
        for (int i = 0; i < _consumers.Length; i++)
        {
            FaultTopic topic = i < 2 ? _kept : _recycled;
            await _consumers[i].CatchUpAsync(topic.StartOffsets, topic.EndOffsets, Patience);
        }
    }

    /// <inheritdoc/>
    public void AddTo(FaultRun run)
    {
        run.Count("acknowledged", _producers.Sum(p => p.Acknowledged));
        run.Count("outcome unknown", _producers.Sum(p => p.Unknown));
        run.Count("read back", _kept.Verified + _recycled.Verified);
        run.Count("consumed", _consumers.Sum(c => c.Received));
        run.Count(Control, _kept.Gone + _recycled.Gone);
        run.Count("topics created and deleted", _churn.Made);
        run.Count("violations", Violations.Count());
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        foreach (FaultProducer producer in _producers)
            await producer.DisposeAsync();
        if (_client is { } client)
            await client.DisposeAsync();
        _end.Dispose();
    }

    private static ProducerOptions Options(Durability level, int number, int variant) =>
        new()
        {
            AckLevel = level,
            Name = (number + variant) % 2 == 0 ? $"producer-{number}" : null,
            DisposeTimeout = TimeSpan.Zero,
        };
}

using System.Globalization;
using LightQ.Bench.Idle;
using LightQ.Bench.Processes;
using LightQ.Client;

namespace LightQ.Bench.Scale;

/// <summary>One of the two brokers that a dimension compares, with what it has few or many of.</summary>
internal sealed class ScaleSide : IAsyncDisposable
{
    /// <summary>
    /// What each busy durable topic keeps besides its backlog: little, so that its segments come round soon, on either
    /// side.
    /// </summary>
    private const long RetentionBytes = 16L << 20;

    private const int CreatedAtOnce = 16,
        FillMessageBytes = 8192;

    private readonly ScaleDimension _dimension;
    private readonly long _count;
    private readonly IBenchConsole _console;
    private readonly IdleProcesses _idle;
    private readonly EmbeddedBroker _broker;

    private ScaleSide(
        ScaleSettings settings,
        ScaleDimension dimension,
        long count,
        EmbeddedBroker broker,
        IBenchConsole console
    )
    {
        (_dimension, _count, _broker, _console) = (dimension, count, broker, console);
        _idle = new IdleProcesses(console);
        Topics = [.. Enumerable.Range(0, dimension == ScaleDimension.Topics ? settings.BusyTopics : 1).Select(NameOf)];
        Load = new ScaleLoad(
            broker.ConnectionString,
            Topics,
            dimension == ScaleDimension.Subscriptions ? (int)count : 1,
            settings.Size
        );
    }

    /// <summary>The busy topics.</summary>
    public IReadOnlyList<string> Topics { get; }

    public ScaleLoad Load { get; }

    /// <summary>What the broker has used so far.</summary>
    public ProcessUsage Usage => _broker.Usage;

    /// <summary>Resident memory before anything was done with it.</summary>
    public long RestBytes { get; private set; }

    /// <summary>Starts a broker.</summary>
    public static async Task<ScaleSide> StartAsync(
        ScaleSettings settings,
        ScaleDimension dimension,
        long count,
        string? dataDirectory,
        IBenchConsole console,
        CancellationToken cancellationToken
    )
    {
        if (dimension == ScaleDimension.Connections)
            IdleProcesses.ThrowIfTooMany(count, active: 0);
        long connections = count + IdleProcesses.OtherDescriptors;
        EmbeddedBroker broker = await EmbeddedBroker.StartAsync(
            dataDirectory,
            cancellationToken,
            dimension is ScaleDimension.Connections or ScaleDimension.Subscriptions
                ? string.Create(
                    CultureInfo.InvariantCulture,
                    $$"""{"DataPlane": {"MaxConnections": {{connections}}, "MaxConnectionsPerAddress": {{connections}} } }"""
                )
                : "{}"
        );
        return new ScaleSide(settings, dimension, count, broker, console);
    }

    /// <summary>Makes what there is few or many of, all of it idle.</summary>
    public async Task PrepareAsync(TimeSpan settling, CancellationToken cancellationToken)
    {
        await Task.Delay(settling, cancellationToken);
        RestBytes = Usage.ResidentBytes;
        await using var client = new LightQClient(LightQClientOptions.Parse(_broker.ConnectionString));
        long backlog = _dimension == ScaleDimension.Backlog ? _count : 0;
        bool isDurable = _dimension is ScaleDimension.Topics or ScaleDimension.Backlog;
        var spec = new TopicSpec(NameOf(0))
        {
            Kind = isDurable ? TopicKind.Durable : TopicKind.Transient,
            RetentionBytes = isDurable ? RetentionBytes + backlog : null,
        };
        int topics = _dimension == ScaleDimension.Topics ? (int)_count : 1,
            created = 0;
        var options = new ParallelOptions
        {
            MaxDegreeOfParallelism = CreatedAtOnce,
            CancellationToken = cancellationToken,
        };
        await Parallel.ForAsync(
            0,
            topics,
            options,
            async (topic, token) =>
            {
                await client.Topics.CreateAsync(spec with { Name = NameOf(topic) }, token);
                if (Interlocked.Increment(ref created) is var done && done % 100 == 0)
                    _console.Progress(string.Create(CultureInfo.InvariantCulture, $"topics: {done:N0} of {topics:N0}"));
            }
        );
        if (backlog != 0)
            await FillAsync(client, backlog, cancellationToken);
        if (_dimension == ScaleDimension.Connections)
            await _idle.OpenAsync(_broker.ConnectionString, _count, cancellationToken);
    }

    /// <summary>Sees that what there is few or many of is there still.</summary>
    /// <exception cref="BenchException">Idle connections have ended.</exception>
    public Task CheckAsync(CancellationToken cancellationToken) => _idle.CheckAsync(cancellationToken);

    /// <summary>Waits for something, but not longer than the broker lives.</summary>
    public Task WhileAliveAsync(Task work) => _broker.WhileAliveAsync(work);

    public async ValueTask DisposeAsync()
    {
        await Load.DisposeAsync();
        await _idle.DisposeAsync();
        await _broker.DisposeAsync();
    }

    private static string NameOf(int topic) => string.Create(CultureInfo.InvariantCulture, $"scale-{topic}");

    private async Task FillAsync(LightQClient client, long bytes, CancellationToken cancellationToken)
    {
        await using Producer producer = await client.CreateProducerAsync(
            Topics[0],
            new ProducerOptions { BatchBytes = 256 * 1024 },
            cancellationToken
        );
        byte[] body = new byte[FillMessageBytes];
        Random.Shared.NextBytes(body);
        for (long filled = 0; filled < bytes; filled += FillMessageBytes)
        {
            while (!producer.TryPublish(body))
            {
                await producer.WaitForRoomAsync(cancellationToken);
                _console.Progress(
                    string.Create(CultureInfo.InvariantCulture, $"backlog: {filled >> 20:N0} of {bytes >> 20:N0} MiB")
                );
            }
        }
        await producer.FlushAsync(cancellationToken);
    }
}

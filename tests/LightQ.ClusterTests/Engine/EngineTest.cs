using System.Globalization;
using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using LightQ.Replication.Nats;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>What the tests of the engine share: streams of their own, and entries that can be told apart.</summary>
[Collection(NatsTests.Name)]
public abstract class EngineTest(NatsFixture nats) : IAsyncLifetime
{
    private readonly List<IReplicationEngine> _engines = [];
    private int _streams;

    protected static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    private protected NatsCluster Cluster => nats.Cluster;

    /// <summary>An engine for what is no fault.</summary>
    private protected JetStreamEngine Engine { get; private set; } = null!;

    private protected Version ServerVersion => Version.Parse(Engine.Description.Split(' ')[1].Split('-')[0]);

    /// <summary>What the names of this test's streams begin with.</summary>
    protected string Prefix { get; } = $"LQ_{Guid.NewGuid():N}_";

    public async ValueTask InitializeAsync()
    {
        _ = nats.Cluster;
        Engine = await nats.ConnectAsync();
        _engines.Add(Engine);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (IReplicationEngine engine in _engines)
            await engine.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    /// <summary>Another engine, which waits as long for answers.</summary>
    private protected async Task<JetStreamEngine> ConnectAsync(TimeSpan append, TimeSpan request)
    {
        JetStreamEngine engine = await nats.ConnectAsync(append, request);
        _engines.Add(engine);
        return engine;
    }

    protected string NewName() => Prefix + (++_streams).ToString(CultureInfo.InvariantCulture);

    protected Task<IReplicatedStream> CreateAsync() => CreateAsync(Engine);

    protected async Task<IReplicatedStream> CreateAsync(IReplicationEngine engine) =>
        await engine.CreateStreamAsync(NewName(), 3, Cancellation);

    /// <summary>The server that leads a stream.</summary>
    private protected async Task<int> LeaderOfAsync(IReplicatedStream stream)
    {
        NATS.Client.JetStream.INatsJSStream found = await Engine.Api.GetStreamAsync(
            stream.Name,
            cancellationToken: Cancellation
        );
        return NatsCluster.IndexOf(found.Info.Cluster!.Leader!);
    }

    /// <summary>Appends what must be stored.</summary>
    protected static async Task<Stored> AppendAsync(
        IReplicatedStream stream,
        ulong expectedLast,
        string text,
        EntryKind kind = EntryKind.Data
    )
    {
        EntryAppend append = await stream.AppendAsync(kind, Payload(text), expectedLast, Cancellation);
        Assert.Equal(EntryAppend.Stored(expectedLast + 1), append);
        return new(append.Sequence, kind, text);
    }

    /// <summary>
    /// Appends as an owner does that must not fail for long: after an outcome that is not stored it looks where the
    /// stream ends. Gives every text that may be stored besides the last.
    /// </summary>
    protected static async Task<List<string>> AppendAtLastAsync(IReplicatedStream stream, string text)
    {
        List<string> tried = [];
        while (true)
        {
            Cancellation.ThrowIfCancellationRequested();
            try
            {
                StreamBounds bounds = await stream.GetBoundsAsync(Cancellation);
                string attempt = $"{text}.{tried.Count.ToString(CultureInfo.InvariantCulture)}";
                tried.Add(attempt);
                EntryAppend append = await stream.AppendAsync(
                    EntryKind.Data,
                    Payload(attempt),
                    bounds.Last,
                    Cancellation
                );
                if (append.Outcome == AppendOutcome.Stored)
                    return tried;
            }
            catch (ReplicationException)
            {
                // The servers elect a leader.
            }
        }
    }

    protected static async Task<List<Stored>> ReadAsync(
        IReplicatedStream stream,
        ulong first = 1,
        ulong last = ulong.MaxValue
    )
    {
        List<Stored> read = [];
        await foreach (StreamEntry entry in stream.ReadAsync(first, last, Cancellation))
            read.Add(Of(entry));
        return read;
    }

    /// <summary>Purges, whether or not this version may do so on a server that starts again.</summary>
    protected static async Task PurgeAsync(IReplicatedStream stream, EntryKind kind, ulong before) =>
        await ((JetStreamStream)stream).PurgeOnAnyVersionAsync(kind, before, Cancellation);

    protected static Stored Of(StreamEntry entry) =>
        new(entry.Sequence, entry.Kind, System.Text.Encoding.UTF8.GetString(entry.Payload.Span));

    protected static byte[] Payload(string text) => System.Text.Encoding.UTF8.GetBytes(text);

    /// <summary>An entry, with its payload as text.</summary>
    public sealed record Stored(ulong Sequence, EntryKind Kind, string Text);
}

using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Server;

namespace LightQ.IntegrationTests;

/// <summary>The real broker on free ports, with a data directory of its own that is removed at the end.</summary>
internal sealed class TestServer : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly LightQServer _server;
    private readonly TemporaryDirectory? _ownDirectory;

    private TestServer(LightQServer server, TemporaryDirectory? ownDirectory)
    {
        _server = server;
        _ownDirectory = ownDirectory;
    }

    public LightQServer Server => _server;

    public LightQBroker Broker => _server.Broker;

    public int DataPort => _server.DataPort;

    public int ControlPort => _server.ControlPort;

    public int WebPort => _server.WebPort;

    public string ConnectionString => _server.ConnectionString;

    public static Task<TestServer> StartAsync(TimeSpan? slowTimeout = null, string? directory = null)
    {
        LightQServerOptions options = LightQServerOptions.InProcess;
        if (slowTimeout is { } timeout)
            options = options with { Broker = options.Broker with { SlowTimeout = timeout } };
        return StartAsync(options with { DataDirectory = directory });
    }

    public static async Task<TestServer> StartAsync(LightQServerOptions options)
    {
        TemporaryDirectory? own = options.DataDirectory is null ? new TemporaryDirectory() : null;
        return new TestServer(await LightQServer.StartAsync(options with { DataDirectory = options.DataDirectory ?? own!.Path }), own);
    }

    public Task<Topic> CreateTopicAsync(string name, TopicKind kind = TopicKind.Transient, int maxMessageBytes = 1024 * 1024) =>
        Task.Run(() => Broker.CreateTopic(name, new TopicSettings { Kind = kind, MaxMessageBytes = maxMessageBytes }));

    /// <summary>Waits until so many data-plane connections are open.</summary>
    public Task ConnectionsAsync(int count) =>
        Eventually.TrueAsync(() => _server.ConnectionCount == count, Patience, () => $"{_server.ConnectionCount} connections, not {count}");

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        _ownDirectory?.Dispose();
    }
}

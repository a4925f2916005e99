using Grpc.Net.Client;
using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Server;
using Xunit;

namespace LightQ.IntegrationTests;

/// <summary>
/// The real broker on free ports, with a data directory of its own that is removed at the end. The one way tests start
/// a server.
/// </summary>
internal sealed class TestServer : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly LightQServerOptions _options;
    private readonly TemporaryDirectory? _ownDirectory;
    private LightQServer _server = null!;
    private GrpcChannel? _control;
    private HttpClient? _web;

    private TestServer(LightQServerOptions options)
    {
        _ownDirectory = options.DataDirectory is null ? new TemporaryDirectory() : null;
        _options = options with { DataDirectory = options.DataDirectory ?? _ownDirectory!.Path };
    }

    /// <summary>The server; another one after <see cref="RestartAsync"/>.</summary>
    public LightQServer Server => _server;

    public LightQBroker Broker => _server.Broker;

    public int DataPort => _server.DataPort;

    public int ControlPort => _server.ControlPort;

    public int WebPort => _server.WebPort;

    public string ConnectionString => _server.ConnectionString;

    /// <summary>The data directory.</summary>
    public string Directory => _options.DataDirectory!;

    /// <summary>The password of the user admin.</summary>
    public string AdminPassword => File.ReadAllText(Path.Combine(Directory, "admin-password"));

    /// <summary>A channel to the control port.</summary>
    public GrpcChannel Control => _control ??= GrpcChannel.ForAddress($"http://127.0.0.1:{ControlPort}");

    /// <summary>A client of the web port.</summary>
    public HttpClient Web => _web ??= new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{WebPort}") };

    /// <summary>What the server logs.</summary>
    public RecordedLog Log { get; } = new();

    public static Task<TestServer> StartAsync(string? directory = null, TimeProvider? time = null) =>
        StartAsync(o => o with { DataDirectory = directory, TimeProvider = time ?? o.TimeProvider });

    /// <summary>Starts a server.</summary>
    /// <param name="configure">Changes the options of a server inside a test: loopback, free ports.</param>
    public static Task<TestServer> StartAsync(Func<LightQServerOptions, LightQServerOptions> configure) =>
        StartAsync(configure(LightQServerOptions.InProcess));

    public static async Task<TestServer> StartAsync(LightQServerOptions options)
    {
        var server = new TestServer(options);
        try
        {
            await server.StartAgainAsync();
            return server;
        }
        catch
        {
            server._ownDirectory?.Dispose();
            throw;
        }
    }

    /// <summary>Stops the server and starts another on the same directory; free ports are others then.</summary>
    /// <param name="between">Done while no server runs.</param>
    public async Task RestartAsync(Action? between = null)
    {
        await StopAsync();
        between?.Invoke();
        await StartAgainAsync();
    }

    public Task<Topic> CreateTopicAsync(
        string name,
        TopicKind kind = TopicKind.Transient,
        int maxMessageBytes = 1024 * 1024
    ) => Task.Run(() => Broker.CreateTopic(name, new TopicSettings { Kind = kind, MaxMessageBytes = maxMessageBytes }));

    /// <summary>Waits until so many data-plane connections are open.</summary>
    public Task ConnectionsAsync(int count) =>
        Eventually.TrueAsync(
            () => _server.ConnectionCount == count,
            Patience,
            () => $"{_server.ConnectionCount} connections, not {count}"
        );

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        _ownDirectory?.Dispose();
    }

    private async Task StopAsync()
    {
        _control?.Dispose();
        _web?.Dispose();
        (_control, _web) = (null, null);
        await _server.DisposeAsync();
    }

    private async Task StartAgainAsync() =>
        _server = await LightQServer.StartAsync(_options, Log, TestContext.Current.CancellationToken);
}

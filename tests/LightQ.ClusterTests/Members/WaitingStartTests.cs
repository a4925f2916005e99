using System.Net;
using LightQ.Broker.Replication;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Server;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>A broker that starts before its engine waits for it, and says so.</summary>
public sealed class WaitingStartTests : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly TemporaryDirectory _directory = new();
    private readonly int _firstPort = FreePorts.Find(3);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task It_lives_and_is_not_ready_until_the_engine_answers()
    {
        var engine = new MemoryEngine();
        int attempts = 0;
        bool isThere = false;
        Task<LightQServer> starting = StartAsync(
            () =>
            {
                Interlocked.Increment(ref attempts);
                return Volatile.Read(ref isThere) ? engine : throw new ReplicationException("no majority yet");
            },
            Cancelled
        );
        using var http = new HttpClient();
        (HttpStatusCode Code, string Body) ready = default;
        await Eventually.TrueAsync(
            async () =>
                (ready = await AskAsync(http, "ready")).Body.Contains("no majority yet", StringComparison.Ordinal),
            Patience,
            () => $"{ready}"
        );
        Assert.Equal(HttpStatusCode.ServiceUnavailable, ready.Code);
        Assert.Equal((HttpStatusCode.OK, "live\n"), await AskAsync(http, "live"));
        await Eventually.TrueAsync(() => attempts > 1, Patience, () => "It has given up.");
        Assert.False(starting.IsCompleted);
        Volatile.Write(ref isThere, true);
        await using LightQServer server = await starting;
        Assert.Equal(HttpStatusCode.OK, (await AskAsync(http, "ready")).Code);
    }

    [Fact]
    public async Task A_start_that_waits_can_be_cancelled()
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        Task<LightQServer> starting = StartAsync(() => throw new ReplicationException("no majority yet"), stop.Token);
        using var http = new HttpClient();
        await Eventually.TrueAsync(
            async () => (await AskAsync(http, "live")).Code == HttpStatusCode.OK,
            Patience,
            () => "It does not say that it lives."
        );
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => starting);
        Assert.Equal(default, (await AskAsync(http, "live")).Code);
    }

    [Fact]
    public async Task A_wrong_configuration_ends_it()
    {
        ServerStartException refused = await Assert.ThrowsAsync<ServerStartException>(() =>
            StartAsync(() => throw new ArgumentException("the login is rejected"), Cancelled)
        );
        Assert.Equal((ServerStartFailure.Configuration, 78), (refused.Failure, refused.ExitCode));
    }

    private Task<LightQServer> StartAsync(Func<IReplicationEngine> connect, CancellationToken cancellationToken) =>
        LightQServer.StartAsync(
            new LightQServerOptions
            {
                DataDirectory = _directory.Path,
                DataPort = _firstPort,
                ControlPort = _firstPort + 1,
                WebPort = _firstPort + 2,
                Cluster = new ClusterOptions
                {
                    Engine = "memory",
                    Name = "waits",
                    Node = "a",
                },
                ReplicationEngine = (_, _, _) => Task.Run(connect),
            },
            cancellationToken: cancellationToken
        );

    private async Task<(HttpStatusCode Code, string Body)> AskAsync(HttpClient http, string what)
    {
        try
        {
            using HttpResponseMessage answer = await http.GetAsync(
                new Uri($"http://127.0.0.1:{_firstPort + 2}/healthz/{what}"),
                Cancelled
            );
            return (answer.StatusCode, await answer.Content.ReadAsStringAsync(Cancelled));
        }
        catch (HttpRequestException)
        {
            return (default, ""); // Its port is not open.
        }
    }
}

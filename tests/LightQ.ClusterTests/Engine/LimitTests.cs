using System.Diagnostics;
using System.Globalization;
using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Replication.Nats;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>A nats-server at a limit of its own, or of the account: what it answers, and what is seen of it.</summary>
public sealed class LimitTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _directory = new();
    private readonly int _port = FreePorts.Find(2);
    private Process? _server;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public ValueTask InitializeAsync()
    {
        Assert.SkipWhen(
            NatsCluster.FindProgram() is null,
            "nats-server is not installed: apt-get install nats-server."
        );
        return ValueTask.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
        {
            _server.Kill();
            await _server.WaitForExitAsync(CancellationToken.None);
            _server.Dispose();
        }
        _directory.Dispose();
    }

    [Theory]
    [InlineData("max_file: 100KB", "", "max_file")]
    [InlineData("max_file: 1GB", "jetstream: { max_file: 100KB }", "the account's limit")]
    public async Task What_does_not_fit_is_full_with_the_figures_and_the_rest_is_read(
        string server,
        string account,
        string remedy
    )
    {
        await using JetStreamEngine engine = await StartAsync(server, account);
        IReplicatedStream stream = await engine.CreateStreamAsync("LQ_limit", 1, Cancelled);
        Assert.Empty(await engine.FindProblemsAsync([stream.Name], Cancelled));
        byte[] payload = new byte[10_000];
        EntryAppend append;
        ulong last = 0;
        while (true)
        {
            append = await stream.AppendAsync(EntryKind.Data, payload, last, Cancelled);
            if (append.Outcome == AppendOutcome.Full)
                break;
            Assert.Equal(EntryAppend.Stored(++last), append);
        }
        Assert.Contains(" of ", append.Reason, StringComparison.Ordinal);
        Assert.InRange(last, 5ul, 15ul);
        List<StreamEntry> read = [];
        await foreach (StreamEntry entry in stream.ReadAsync(1, ulong.MaxValue, Cancelled))
            read.Add(entry);
        // A server without others may have stored the one that it has refused.
        Assert.InRange(read.Count, (int)last, (int)last + 1);
        EngineProblem found = Assert.Single(await engine.FindProblemsAsync([stream.Name], Cancelled));
        Assert.True(found.Kind is EngineProblemKind.LimitNear or EngineProblemKind.LimitReached);
        Assert.Contains(remedy, found.Remedy, StringComparison.Ordinal);
    }

    private async Task<JetStreamEngine> StartAsync(string jetStream, string account)
    {
        string configuration = _directory.File("nats.conf"),
            users = "users: [ { user: shop, password: shop } ]",
            accounts = account.Length == 0 ? "" : $"accounts {{ SHOP: {{ {account}, {users} }} }}\nno_auth_user: shop";
        await File.WriteAllTextAsync(
            configuration,
            $$"""
            server_name: n1
            listen: 127.0.0.1:{{Text(_port)}}
            http: 127.0.0.1:{{Text(_port + 1)}}
            jetstream { store_dir: "{{_directory.File("js")}}", max_mem: 1MB, {{jetStream}} }
            {{accounts}}
            """,
            Cancelled
        );
        _server = Process.Start(new ProcessStartInfo(NatsCluster.FindProgram()!, ["-c", configuration]))!;
        NatsEngineOptions options = NatsReplication.Options(
            $"nats://127.0.0.1:{Text(_port)}",
            $"http://127.0.0.1:{Text(_port + 1)}",
            "limit",
            new NatsLogin(),
            NullLoggerFactory.Instance
        );
        JetStreamEngine? engine = null;
        await Eventually.TrueAsync(
            async () =>
            {
                try
                {
                    engine = await JetStreamEngine.ConnectAsync(options, Cancelled);
                    return true;
                }
                catch (ReplicationException)
                {
                    return false;
                }
            },
            TimeSpan.FromMinutes(1),
            () => "The server does not start."
        );
        return engine!;
    }

    private static string Text(int value) => value.ToString(CultureInfo.InvariantCulture);
}

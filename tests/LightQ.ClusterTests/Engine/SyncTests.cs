using System.Net;
using System.Net.Sockets;
using LightQ.Broker.Replication;
using LightQ.Client;
using LightQ.IntegrationTests;
using LightQ.Replication.Nats;
using LightQ.Server;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>Topics with replicas are made only where every server says that it syncs before it acknowledges.</summary>
public sealed class SyncTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public static TheoryData<string, string?> Answers =>
        new()
        {
            { Varz("n1", "2.12.3", """{"max_memory":1,"sync_interval":120000000000,"sync_always":true}"""), null },
            {
                Varz("n1", "2.12.3", """{"max_memory":1,"sync_interval":10000000000}"""),
                "n1 (ADDRESS) syncs every 00:00:10"
            },
            {
                Varz("n1", "2.12.3", """{"sync_interval":120000000000,"sync_always":false}"""),
                "n1 (ADDRESS) syncs every 00:02:00"
            },
            { Varz("n1", "2.12.3", """{"sync_always":"true"}"""), "n1 (ADDRESS) syncs every 00:02:00" },
            {
                Varz("n1", "2.9.10", """{"max_memory":1,"max_storage":2}"""),
                "nats-server 2.9.10 of n1 (ADDRESS) cannot: it syncs every 2 minutes"
            },
            {
                Varz("n1", "2.12.3", """{"sync_always":true}""", size: 3),
                "Cluster:Monitoring names 1 of the 3 servers that store streams"
            },
            { """{"server_id":"x","version":"2.12.3"}""", "Cluster:Monitoring names 0 of the 1 servers" },
            { "{}", "ADDRESS does not say whether it does: it is no nats-server's monitoring port" },
            { "[1]", "ADDRESS does not say whether it does: it is no nats-server's monitoring port" },
            { "<html>", "ADDRESS does not say whether it does: it is no nats-server's monitoring port" },
            { "", "ADDRESS does not say whether it does: it is no nats-server's monitoring port" },
            { new string('[', 5_000), "ADDRESS does not say whether it does: it is no nats-server's monitoring port" },
            {
                $$"""{"server_id":"{{new string('x', 2 * 1024 * 1024)}}","version":"2.12.3"}""",
                "ADDRESS does not say whether it does: it is no nats-server's monitoring port"
            },
        };

    [Theory]
    [MemberData(nameof(Answers))]
    public async Task What_a_server_says_of_itself_decides(string answer, string? reason)
    {
        await using var server = new ScriptedMonitoring(answer);
        string? found = await Check(server.Address).FindUnsyncedAsync(Cancelled);
        if (reason is null)
            Assert.Null(found);
        else
            Assert.StartsWith(reason.Replace("ADDRESS", server.Address.Authority, StringComparison.Ordinal), found);
    }

    [Fact]
    public async Task All_servers_must_say_so_and_one_that_is_named_twice_counts_once()
    {
        string syncs = """{"sync_always":true}""";
        await using var first = new ScriptedMonitoring(Varz("n1", "2.12.3", syncs, size: 2));
        await using var second = new ScriptedMonitoring(Varz("n2", "2.12.3", syncs, size: 2));
        Assert.Null(await Check(first.Address, second.Address).FindUnsyncedAsync(Cancelled));

        await using var again = new ScriptedMonitoring(first.Answer);
        Assert.Equal(
            "Cluster:Monitoring names 1 of the 2 servers that store streams",
            await Check(first.Address, again.Address).FindUnsyncedAsync(Cancelled)
        );
        Assert.Equal("Cluster:Monitoring names none of them", await Check().FindUnsyncedAsync(Cancelled));
    }

    [Fact]
    public async Task That_they_sync_is_remembered_for_a_while_and_that_they_do_not_is_asked_again()
    {
        await using var server = new ScriptedMonitoring(Varz("n1", "2.12.3", """{"sync_interval":1}"""));
        var time = new ManualTime();
        var check = new SyncCheck([server.Address], time);
        Assert.NotNull(await check.FindUnsyncedAsync(Cancelled));
        server.Answer = Varz("n1", "2.12.3", """{"sync_always":true}""");
        Assert.Null(await check.FindUnsyncedAsync(Cancelled));
        server.Answer = "{}";
        Assert.Null(await check.FindUnsyncedAsync(Cancelled));
        time.Advance(TimeSpan.FromSeconds(11));
        Assert.NotNull(await check.FindUnsyncedAsync(Cancelled));
    }

    [Fact]
    public async Task A_server_that_refuses_or_says_nothing_does_not_sync_as_far_as_is_known()
    {
        Uri nobody = new($"http://127.0.0.1:{FreePorts.Find(1)}");
        Assert.StartsWith(
            $"{nobody.Authority} does not say whether it does: ",
            await Check(nobody).FindUnsyncedAsync(Cancelled)
        );
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        Uri mute = new($"http://{silent.LocalEndpoint}");
        Assert.Equal(
            $"{mute.Authority} does not say whether it does: no answer in 2 s",
            await Check(mute).FindUnsyncedAsync(Cancelled)
        );
        await using var broken = new ScriptedMonitoring("") { Status = "503 Service Unavailable" };
        Assert.Equal(
            $"{broken.Address.Authority} does not say whether it does: it answers with status 503",
            await Check(broken.Address).FindUnsyncedAsync(Cancelled)
        );
    }

    [Fact]
    public async Task A_broker_makes_no_topic_with_replicas_until_the_servers_sync_and_says_what_to_set()
    {
        using var directory = new TemporaryDirectory();
        var engine = new UnsyncedEngine { Reason = "n1 syncs every 00:02:00" };
        await using LightQServer server = await StartAsync(directory.Path, engine, requireSync: true);
        await using var client = new LightQClient(server.ConnectionString);
        var topic = new TopicSpec("orders") { Kind = TopicKind.Durable, Replicas = 3 };

        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            client.Topics.CreateAsync(topic, Cancelled)
        );
        Assert.Equal(ErrorCode.NotSupported, refused.Code);
        Assert.Equal(
            "replicas 3 needs servers that sync before they acknowledge, and n1 syncs every 00:02:00. Set "
                + "'sync_interval: always' in the jetstream block of every nats-server and Cluster:Monitoring to the "
                + "monitoring ports of all of them; or set Cluster:RequireSync to false: then a power cut of all "
                + "servers may lose up to 2 minutes of what was acknowledged. See docs/operate/cluster.md.",
            refused.Message
        );
        Assert.DoesNotContain(engine.Memory.Names, IsOfTopic);
        await client.Topics.CreateAsync(topic with { Replicas = 1 }, Cancelled);
        await client.Topics.DeleteAsync("orders", Cancelled);

        engine.Reason = null;
        await client.Topics.CreateAsync(topic, Cancelled);
        Assert.Single(engine.Memory.Names, IsOfTopic);

        static bool IsOfTopic(string stream) => !stream.EndsWith("_catalog", StringComparison.Ordinal);
    }

    [Fact]
    public async Task Topics_that_exist_are_served_and_it_is_logged()
    {
        using var directory = new TemporaryDirectory();
        var engine = new UnsyncedEngine { Reason = "n1 syncs every 00:02:00" };
        using var log = new LinesLog();
        await using (LightQServer server = await StartAsync(directory.Path, engine, requireSync: false, log))
        {
            await using var client = new LightQClient(server.ConnectionString);
            await client.Topics.CreateAsync(
                new TopicSpec("orders") { Kind = TopicKind.Durable, Replicas = 3 },
                Cancelled
            );
        }
        Assert.DoesNotContain(log.Lines, line => line.Contains("power cut", StringComparison.Ordinal));
        await using (LightQServer server = await StartAsync(directory.Path, engine, requireSync: true, log))
        {
            await using var client = new LightQClient(server.ConnectionString);
            await client.PublishAsync("orders", "kept"u8.ToArray(), cancellationToken: Cancelled);
        }
        Assert.Contains(
            "A power cut of all nats-servers may lose messages that were acknowledged, in 1 topics with replicas: n1 "
                + "syncs every 00:02:00. Cluster:RequireSync refuses new ones for it",
            log.Lines
        );
    }

    private static SyncCheck Check(params Uri[] addresses) => new(addresses, TimeProvider.System);

    private static Task<LightQServer> StartAsync(
        string directory,
        IReplicationEngine engine,
        bool requireSync,
        LinesLog? log = null
    ) =>
        LightQServer.StartAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = directory,
                Cluster = new ClusterOptions { Engine = "nats://scripted", RequireSync = requireSync },
                ReplicationEngine = (_, _, _) => Task.FromResult(engine),
            },
            log,
            Cancelled
        );

    private static string Varz(string name, string version, string config, int size = 1) =>
        $$"""{"server_id":"ID{{name}}","server_name":"{{name}}","version":"{{version}}","max_payload":1048576,"""
        + $$"""  "jetstream":{"config":{{config}},"meta":{"leader":"n1","cluster_size":{{size}} } } }""";
}

using LightQ.Broker;
using LightQ.Broker.Replication;
using LightQ.Cli.Backups;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Replication.Nats;
using LightQ.Server;
using LightQ.Storage.Backups;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.ClusterTests.Backups;

/// <summary>The way of a durable topic into a cluster on nats-servers, and back.</summary>
[Collection(NatsTests.Name)]
public sealed class JetStreamRestoreTests(NatsFixture nats)
{
    private const int Messages = 600,
        Taken = 400;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_topic_of_a_broker_alone_gets_replicas_by_backup_and_restore_and_comes_back_the_same_way()
    {
        FaultRun.RequireTier("It takes seconds.");
        _ = nats.Cluster;
        using var directory = new TemporaryDirectory();
        SortedDictionary<(int, long), string> before;
        int[] open;
        await using (LightQServer alone = await StartAsync(directory.File("alone"), null, ""))
        {
            await using LightQClient client = TopicContents.Connect(alone);
            alone.Broker.CreateTopic("orders", new() { Kind = TopicKind.Durable, Partitions = 3 });
            await TopicContents.PublishAsync(client, "orders", 0, Messages);
            List<int> taken = await TopicContents.WorkAsync(client, "orders", Taken);
            open = [.. Enumerable.Range(0, Messages).Except(taken.Where(i => i % 2 == 0))];
            before = await TopicContents.ReadAsync(client, "orders", Messages);
            await BackUpAsync(alone, directory.File("backup"));
        }

        await using JetStreamEngine engineA = await nats.ConnectAsync(),
            engineB = await nats.ConnectAsync();
        BackupRestore.Run(directory.File("backup"), directory.File("a"), cancellationToken: Cancelled);
        await using (LightQServer a = await StartAsync(directory.File("a"), engineA, "a"))
        await using (LightQServer b = await StartAsync(directory.File("b"), engineB, "b"))
        {
            await using LightQClient client = TopicContents.Connect(b);
            await Eventually.TrueAsync(
                () => b.Broker.TryGetTopic("orders", out _) && b.Broker.Replicas.Members!.Find("a") is { IsLive: true },
                TimeSpan.FromMinutes(1),
                () => "b knows neither the topic nor a"
            );
            while (!(await client.Topics.ReplicateAsync("orders", 3, Cancelled)).IsDone)
                await Task.Delay(50, Cancelled);
            await TopicContents.LedAsync("orders", a, b);
            Assert.Equal(before, await TopicContents.ReadAsync(client, "orders", Messages));
            await a.DisposeAsync(); // What only its disk had is in the log now.
            await TopicContents.LedAsync("orders", b);
            Assert.Equal(before, await TopicContents.ReadAsync(client, "orders", Messages));
            await BackUpAsync(b, directory.File("of the cluster"));
        }

        BackupRestore.Run(directory.File("of the cluster"), directory.File("again"), cancellationToken: Cancelled);
        await using LightQServer again = await StartAsync(directory.File("again"), null, "");
        await using LightQClient reader = TopicContents.Connect(again);
        Assert.Equal(before, await TopicContents.ReadAsync(reader, "orders", Messages));
        Assert.Equal(open, (await TopicContents.WorkAsync(reader, "orders", open.Length)).Order());
    }

    private static async Task BackUpAsync(LightQServer server, string folder)
    {
        var job = new BackupJob(folder, 0, allowDamaged: false, new CommandConsole());
        Assert.Empty((await job.RunAsync(LightQClientOptions.Parse(server.ConnectionString), Cancelled)).Damaged);
    }

    private static Task<LightQServer> StartAsync(string directory, IReplicationEngine? engine, string node) =>
        LightQServer.StartAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = directory,
                Broker = new BrokerOptions
                {
                    Replication = engine is null
                        ? null
                        : new ReplicationOptions
                        {
                            Engine = engine,
                            Cluster = "restored",
                            Node = node,
                        },
                },
            },
            cancellationToken: Cancelled
        );
}

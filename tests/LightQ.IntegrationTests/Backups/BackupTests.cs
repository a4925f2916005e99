using System.Collections.Concurrent;
using System.Text;
using LightQ.Cli.Backups;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Cli;
using LightQ.Storage.Backups;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Backups;

/// <summary>Backups of a broker at work, taken over the network and restored elsewhere.</summary>
public sealed class BackupTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    private static ConsumeOptions GroupOptions =>
        new()
        {
            Group = "billing",
            Start = StartPosition.Earliest,
            SettleMode = SettleMode.Explicit,
            MaxInFlight = 100,
        };

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task What_was_acknowledged_before_a_backup_under_load_is_in_it_and_groups_go_on_at_their_positions()
    {
        FaultRun.RequireTier("It takes seconds.");
        using var directory = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("orders")
            {
                Kind = TopicKind.Durable,
                Partitions = 3,
                MaxMessageBytes = 16 * 1024,
                SegmentBytes = 512 * 1024,
            },
            Cancelled
        );
        await client.Topics.CreateAsync(new TopicSpec("doomed") { Kind = TopicKind.Durable }, Cancelled);
        await client.Topics.CreateAsync(new TopicSpec("prices") { Kind = TopicKind.Transient }, Cancelled);
        await PublishOneAsync(client, "doomed");
        var acked = new ConcurrentDictionary<(int Partition, long Offset), string>();
        var settled = new ConcurrentDictionary<(int Partition, long Offset), bool>();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        Task[] load =
        [
            .. Enumerable.Range(0, 3).Select(i => PublishAsync(client, i, acked, stop.Token)),
            SettleAsync(client, settled, stop.Token),
        ];
        await Eventually.TrueAsync(
            () => acked.Count > 3000 && settled.Count > 1000,
            Patience,
            () => $"{acked.Count} acknowledged, {settled.Count} settled"
        );

        (int Partition, long Offset)[] before = [.. acked.Keys];
        var job = new BackupJob(
            directory.File("backup"),
            bytesPerSecond: 2 << 20,
            allowDamaged: false,
            new CommandConsole()
        );
        Task<BackupView> backing = job.RunAsync(LightQClientOptions.Parse(server.ConnectionString), Cancelled);
        await client.Topics.DeleteAsync("doomed", Cancelled);
        await client.Topics.CreateAsync(new TopicSpec("late") { Kind = TopicKind.Durable }, Cancelled);
        BackupView made = await backing;
        await stop.CancelAsync();
        await Task.WhenAll(load);
        Assert.Empty(made.Damaged);

        BackupManifest manifest = BackupRestore.Run(
            directory.File("backup"),
            directory.File("data"),
            cancellationToken: Cancelled
        );
        Assert.Equal(3, manifest.Topics.Single(t => t.Name == "orders").Partitions);
        Assert.False(manifest.Topics.Single(t => t.Name == "prices").Durable);
        (await LightQTool.RunAsync(null, "journal", "verify", directory.File("data"))).Succeeded();
        DateTime[] written = SegmentTimes(directory.File("data"));
        await using TestServer restored = await TestServer.StartAsync(directory.File("data"));
        Assert.Equal(written, SegmentTimes(directory.File("data"))); // It has scanned, cut and repaired nothing.
        Assert.Equal(server.Broker.Id, restored.Broker.Id);
        await using var reader = new LightQClient(restored.ConnectionString);
        Dictionary<(int Partition, long Offset), string> found = await ReadAllAsync(restored, reader);
        Assert.All(before, at => Assert.Equal(acked[at], found[at]));
        // Nothing that nobody published; what was under way is acknowledged by now.
        Assert.All(found, m => Assert.Equal(acked[m.Key], m.Value));

        // The group: what it gets again and what it had settled before are everything.
        HashSet<(int, long)> again = await RestOfGroupAsync(restored, reader);
        Assert.All(
            found.Keys.Where(at => !again.Contains(at)),
            at => Assert.True(settled.ContainsKey(at), $"{at} was neither settled before nor delivered again")
        );
        Assert.True(
            again.Count < found.Count - 500,
            $"The group began anew: {again.Count} of {found.Count} messages came again."
        );
        Assert.Empty(restored.Log.Errors);
        Assert.DoesNotContain(restored.Log.Lines, l => l.Message.StartsWith("Made anew", StringComparison.Ordinal));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Users_rights_and_tokens_are_in_a_backup_and_the_admins_password_is_not()
    {
        FaultRun.RequireTier("It takes seconds.");
        using var directory = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync();
        LightQClientOptions admin = LightQClientOptions.Parse(server.ConnectionString) with
        {
            User = "admin",
            Password = server.AdminPassword,
        };
        string token;
        await using (var client = new LightQClient(admin))
        {
            await client.Users.CreateAsync("alice", "correct horse", Cancelled);
            await client.Users.GrantAsync("alice", UserRight.Publish, "orders", Cancelled);
            token = (await client.Users.CreateTokenAsync("alice", null, "", Cancelled)).Token;
        }
        foreach (
            LightQClientOptions stranger in new[]
            {
                LightQClientOptions.Parse(server.ConnectionString),
                admin with
                {
                    User = "alice",
                    Password = "correct horse",
                },
            }
        )
        {
            LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
                BackUpAsync(stranger, directory.File("refused"))
            );
            Assert.Equal(stranger.User is null ? ErrorCode.Unauthenticated : ErrorCode.PermissionDenied, refused.Code);
            Assert.False(Directory.Exists(directory.File("refused")));
        }
        await BackUpAsync(admin, directory.File("backup"));
        Assert.All(
            Directory.GetFiles(directory.File("backup"), "*", SearchOption.AllDirectories),
            file =>
                Assert.DoesNotContain(
                    server.AdminPassword,
                    File.ReadAllText(file, Encoding.Latin1),
                    StringComparison.Ordinal
                )
        );

        BackupRestore.Run(directory.File("backup"), directory.File("data"), cancellationToken: Cancelled);
        await using TestServer restored = await TestServer.StartAsync(directory.File("data"));
        Assert.NotEqual(server.AdminPassword, restored.AdminPassword);
        foreach (
            LightQClientOptions login in new[]
            {
                new LightQClientOptions { User = "alice", Password = "correct horse" },
                new LightQClientOptions { Token = token },
            }
        )
        {
            await using var client = new LightQClient(
                login with
                {
                    Host = "127.0.0.1",
                    DataPort = restored.DataPort,
                    ControlPort = restored.ControlPort,
                }
            );
            Assert.Equal("orders", Assert.Single((await client.Users.WhoAmIAsync(Cancelled)).Grants).Topic);
        }
    }

    [Fact]
    public async Task An_anonymous_caller_of_an_open_broker_gets_no_topic_that_is_closed_to_it()
    {
        using var directory = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync();
        LightQClientOptions anonymous = LightQClientOptions.Parse(server.ConnectionString);
        await using var client = new LightQClient(anonymous);
        await client.Topics.CreateAsync(new TopicSpec("open") { Kind = TopicKind.Durable }, Cancelled);
        await BackUpAsync(anonymous, directory.File("before"));
        await client.Topics.SetCredentialsAsync("open", "own", "a password", Cancelled);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            BackUpAsync(anonymous, directory.File("after"))
        );
        Assert.Equal(ErrorCode.Unauthenticated, refused.Code);
    }

    [Fact]
    public async Task A_producer_whose_name_is_new_since_the_backup_is_not_taken_for_another()
    {
        using var directory = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
        await PublishNamedAsync(client, "first", 10);
        await BackUpAsync(LightQClientOptions.Parse(server.ConnectionString), directory.File("backup"));
        await PublishNamedAsync(client, "lost", 10);
        BackupRestore.Run(directory.File("backup"), directory.File("data"), cancellationToken: Cancelled);
        await using TestServer restored = await TestServer.StartAsync(directory.File("data"));
        await using var again = new LightQClient(restored.ConnectionString);
        await PublishNamedAsync(again, "second", 10);
        await PublishNamedAsync(again, "first", 5);
        Assert.Equal(25, (await again.Stats.GetTopicAsync("orders", Cancelled)).EndOffset);
    }

    private static Task<BackupView> BackUpAsync(LightQClientOptions options, string folder) =>
        new BackupJob(folder, 0, allowDamaged: false, new CommandConsole()).RunAsync(options, Cancelled);

    private static async Task PublishOneAsync(LightQClient client, string topic)
    {
        await using Producer producer = await client.CreateProducerAsync(topic, cancellationToken: Cancelled);
        await producer.PublishAsync("x"u8, cancellationToken: Cancelled);
    }

    private static async Task PublishNamedAsync(LightQClient client, string name, int count)
    {
        await using Producer producer = await client.CreateProducerAsync(
            "orders",
            new ProducerOptions { Name = name },
            Cancelled
        );
        for (int i = 0; i < count; i++)
            await producer.PublishAsync(Encoding.UTF8.GetBytes($"{name} {i}"), cancellationToken: Cancelled);
    }

    private static async Task PublishAsync(
        LightQClient client,
        int number,
        ConcurrentDictionary<(int, long), string> acked,
        CancellationToken stop
    )
    {
        await using Producer producer = await client.CreateProducerAsync(
            "orders",
            new ProducerOptions { Name = $"p{number}", Partition = number },
            Cancelled
        );
        for (int i = 0; !stop.IsCancellationRequested; i++)
        {
            string body = $"{number} {i} {new string('x', 400)}";
            PublishAck ack = await producer.PublishAsync(Encoding.UTF8.GetBytes(body), cancellationToken: Cancelled);
            acked[(ack.Partition, ack.Offset)] = body;
        }
    }

    private static async Task SettleAsync(
        LightQClient client,
        ConcurrentDictionary<(int, long), bool> settled,
        CancellationToken stop
    )
    {
        try
        {
            await foreach (Message message in client.ConsumeAsync("orders", GroupOptions, stop))
            {
                // Before: the broker may know of it when this does not.
                settled[(message.Partition, message.Offset)] = true;
                await message.CompleteAsync(Cancelled);
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The load ends.
        }
    }

    private static async Task<Dictionary<(int Partition, long Offset), string>> ReadAllAsync(
        TestServer server,
        LightQClient client
    )
    {
        long count = server.Broker.GetTopic("orders").Partitions.Sum(p => p.Log.EndOffset);
        var found = new Dictionary<(int, long), string>();
        if (count == 0)
            return found;
        await foreach (
            Message message in client
                .ConsumeAsync("orders", new() { Start = StartPosition.Earliest })
                .WithCancellation(Cancelled)
        )
        {
            found.Add((message.Partition, message.Offset), message.GetText());
            if (found.Count == count)
                break;
        }
        return found;
    }

    private static async Task<HashSet<(int, long)>> RestOfGroupAsync(TestServer server, LightQClient client)
    {
        GroupInfo group = await client.Groups.GetAsync("orders", "billing", Cancelled);
        Assert.Equal(SettleMode.Explicit, group.SettleMode);
        long[] ends = [.. server.Broker.GetTopic("orders").Partitions.Select(p => p.Log.EndOffset)];
        Assert.All(group.Partitions, p => Assert.InRange(p.CommittedOffset, 1, ends[p.Partition]));
        var again = new HashSet<(int, long)>();
        long[] reached = [.. ends.Select((_, i) => group.Partitions.Single(p => p.Partition == i).CommittedOffset)];
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        Task<bool> drained = Task.Run(
            async () =>
            {
                await Eventually.TrueAsync(
                    async () => (await client.Groups.GetAsync("orders", "billing", Cancelled)).Lag == 0,
                    Patience,
                    () => "The group does not come to the end."
                );
                await enough.CancelAsync();
                return true;
            },
            Cancelled
        );
        try
        {
            await foreach (
                Message message in client.ConsumeAsync("orders", GroupOptions).WithCancellation(enough.Token)
            )
            {
                Assert.True(message.Offset >= reached[message.Partition], "A settled message came again.");
                again.Add((message.Partition, message.Offset));
                await message.CompleteAsync(Cancelled);
            }
        }
        catch (OperationCanceledException) when (enough.IsCancellationRequested)
        {
            // Everything is settled.
        }
        Assert.True(await drained);
        return again;
    }

    private static DateTime[] SegmentTimes(string directory) =>
        [
            .. Directory
                .GetFiles(Path.Combine(directory, "topics"), "*.seg", SearchOption.AllDirectories)
                .Order(StringComparer.Ordinal)
                .Select(File.GetLastWriteTimeUtc),
        ];
}

using LightQ.Broker;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Server.Audit;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Faults;

/// <summary>D4 for what a broker keeps beside messages: its catalog and the positions of groups.</summary>
[Trait("Fault", "D4")]
public sealed class StateErrorTests
{
    private const int IOError = 5;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly FaultyFileSystem _files = new(PlatformFileSystem.Choose());

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task What_takes_something_away_counts_at_once_though_the_disk_refuses_it()
    {
        FaultRun.RequireTier("Each change is tried while the disk refuses it.");
        await using TestServer server = await StartAsync();
        await using LightQClient admin = Connect(server, $"admin:{server.AdminPassword}@");
        await admin.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
        await admin.Topics.CreateAsync(new TopicSpec("old") { Kind = TopicKind.Durable }, Cancelled);
        foreach (string name in new[] { "alice", "bob", "carol" })
            await admin.Users.CreateAsync(name, "correct horse", Cancelled);
        await admin.Users.GrantAsync("alice", UserRight.Publish, "orders", Cancelled);
        CreatedToken token = await admin.Users.CreateTokenAsync("alice", cancellationToken: Cancelled);
        await using LightQClient alice = Connect(server, "", $"&token={token.Token}");
        await using Producer producer = await alice.CreateProducerAsync("orders", cancellationToken: Cancelled);
        await producer.PublishAsync("one"u8, cancellationToken: Cancelled);

        using Fault fault = Refuse("/catalog");
        await RefusedAsync(
            server,
            counts: true,
            () => admin.Users.RevokeAsync("alice", UserRight.Publish, "orders", Cancelled)
        );
        await Eventually.TrueAsync(
            async () => await PublishCodeAsync(producer) == ErrorCode.PermissionDenied,
            Patience,
            () => "alice goes on publishing"
        );
        await RefusedAsync(server, counts: true, () => admin.Users.RevokeTokenAsync(token.Info.Id, Cancelled));
        await RefusedAsync(server, counts: true, () => admin.Users.DeleteAsync("bob", Cancelled));
        await RefusedAsync(
            server,
            counts: true,
            () => admin.Users.SetPasswordAsync("carol", "another password", cancellationToken: Cancelled)
        );
        await RefusedAsync(
            server,
            counts: true,
            () => admin.Topics.SetCredentialsAsync("orders", "own", "a password", Cancelled)
        );
        await RefusedAsync(server, counts: true, () => admin.Topics.DeleteAsync("old", Cancelled));
        await RefusedAsync(server, counts: false, () => admin.Users.CreateAsync("dave", "correct horse", Cancelled));
        await RefusedAsync(
            server,
            counts: false,
            () => admin.Users.GrantAsync("alice", UserRight.Consume, "orders", Cancelled)
        );
        await RefusedAsync(
            server,
            counts: false,
            () => admin.Topics.CreateAsync(new TopicSpec("new") { Kind = TopicKind.Durable }, Cancelled)
        );
        await RefusedAsync(
            server,
            counts: false,
            () => admin.CreateProducerAsync("orders", new ProducerOptions { Name = "shop" }, Cancelled)
        );
        await AssertInForceAsync(server);
        await AssertReadyAsync(server, "catalog cannot be stored", "lightq_catalog_failed 1");
        string told = Assert.Single(
            server.Log.Errors,
            e => e.StartsWith("The catalog cannot be stored", StringComparison.Ordinal)
        );
        // The broker's own log does name the file.
        Assert.Contains(Path.Combine(server.Directory, "catalog"), told, StringComparison.Ordinal);

        fault.Dispose();
        await Eventually.TrueAsync(
            async () => await ReadyAsync(server) == "ready\n",
            Patience,
            () => "the catalog is not stored again"
        );
        Assert.Contains(
            "lightq_catalog_failed 0\n",
            await server.Web.GetStringAsync("/metrics", Cancelled),
            StringComparison.Ordinal
        );
        Assert.Contains(
            server.Log.Lines,
            l => l.Message.StartsWith("The catalog is stored again", StringComparison.Ordinal)
        );
        await Eventually.TrueAsync(
            () => Directory.GetDirectories(Path.Combine(server.Directory, "topics")).Length == 1,
            Patience,
            () => "the files of topics that are gone stay"
        );
        await server.RestartAsync();
        await AssertInForceAsync(server);
        await server.Server.StopAsync();
        var lines = new List<AuditLine>();
        Assert.Null(AuditVerifier.Verify(server.Directory, read: lines.Add).Finding);
        Assert.Equal(
            [
                "password-changed",
                "right-revoked",
                "token-revoked",
                "topic-credentials-changed",
                "topic-deleted",
                "user-deleted",
            ],
            lines
                .Where(l => l.Detail.Contains("not stored", StringComparison.Ordinal))
                .Select(l => l.Event)
                .Order(StringComparer.Ordinal)
        );
        Assert.Equal(
            ["catalog-failed", "catalog-stored"],
            lines.Select(l => l.Event).Where(e => e.StartsWith("catalog", StringComparison.Ordinal))
        );
    }

    [Theory]
    [InlineData("sync")] // What was written before is found behind a kill.
    [InlineData("write")]
    public async Task Behind_a_kill_topics_that_may_return_have_their_files(string operation)
    {
        await using TestServer server = await StartAsync();
        await using LightQClient client = Connect(server, "");
        await client.Topics.CreateAsync(new TopicSpec("old") { Kind = TopicKind.Durable }, Cancelled);
        await using (Producer producer = await client.CreateProducerAsync("old", cancellationToken: Cancelled))
            await producer.PublishAsync("kept"u8, cancellationToken: Cancelled);
        using Fault fault = Refuse("/catalog", operation);
        await RefusedAsync(
            server,
            counts: false,
            () => client.Topics.CreateAsync(new TopicSpec("new") { Kind = TopicKind.Durable }, Cancelled)
        );
        await RefusedAsync(server, counts: true, () => client.Topics.DeleteAsync("old", Cancelled));
        using TemporaryDirectory left = Copy(server.Directory);
        await using LightQBroker broker = await LightQBroker.OpenAsync(
            left.Path,
            new BrokerOptions(),
            TimeProvider.System
        );
        Assert.All(broker.Topics, t => Assert.Equal("", t.Failure));
        Assert.Equal(
            operation == "sync" ? ["new", "old"] : ["old"],
            broker.Topics.Select(t => t.Name).Order(StringComparer.Ordinal)
        );
        Assert.Equal(1, broker.GetTopic("old").Partitions[0].Log.DurableOffset);
    }

    [Fact]
    public async Task Behind_one_failed_sync_positions_are_kept_again()
    {
        await using TestServer server = await StartAsync();
        await using LightQClient client = Connect(server, "");
        await FillAsync(client, 20);
        await SettleAsync(client, 5);
        int left = 1;
        _files.Before = (operation, path) =>
        {
            if (
                operation == "sync"
                && path.Contains("/groups/", StringComparison.Ordinal)
                && Interlocked.Decrement(ref left) >= 0
            )
            {
                throw new StorageIOException("fdatasync", path, IOError);
            }
        };
        await SettleAsync(client, 5);
        await Eventually.TrueAsync(() => left < 0, Patience, () => "positions are not written");
        await SettleAsync(client, 5);
        await Eventually.TrueAsync(
            async () => await ReadyAsync(server) == "ready\n",
            Patience,
            () => "not ready, though the disk takes everything again"
        );
        Assert.Contains(
            server.Log.Errors,
            e => e.StartsWith("The positions of groups cannot be stored", StringComparison.Ordinal)
        );
        await Eventually.TrueAsync(
            async () => await CommittedBehindKillAsync(server) == 15,
            Patience,
            () => "a kill takes back what was settled long before"
        );
    }

    [Fact]
    public async Task Positions_that_cannot_be_stored_degrade_the_broker_until_they_are()
    {
        await using TestServer server = await StartAsync();
        await using LightQClient client = Connect(server, "");
        await FillAsync(client, 20);
        await SettleAsync(client, 5);
        await Eventually.TrueAsync(
            async () => await CommittedBehindKillAsync(server) == 5,
            Patience,
            () => "positions are not written"
        );
        using Fault fault = Refuse("/groups");
        await SettleAsync(client, 5);
        await Eventually.TrueAsync(async () => await ReadyAsync(server) != "ready\n", Patience, () => "nobody is told");
        await AssertReadyAsync(server, "positions of groups cannot be stored", "lightq_positions_failed 1");
        await RefusedAsync(server, counts: true, () => client.Groups.PauseAsync("jobs", "workers", Cancelled));
        await RefusedAsync(server, counts: true, () => client.Groups.ResumeAsync("jobs", "workers", Cancelled));
        Assert.Single(
            server.Log.Errors,
            e => e.StartsWith("The positions of groups cannot be stored", StringComparison.Ordinal)
        );
        Assert.Equal(5, await CommittedBehindKillAsync(server));
        fault.Dispose();
        await Eventually.TrueAsync(
            async () => await ReadyAsync(server) == "ready\n",
            Patience,
            () => "positions are not stored again"
        );
        Assert.Equal(10, await CommittedBehindKillAsync(server));
    }

    /// <summary>From now on the disk says EIO to everything that changes a file of a directory.</summary>
    private Fault Refuse(string directory, string? only = null)
    {
        _files.Before = (operation, path) =>
        {
            bool isRefused = only is null
                ? operation is "write" or "sync" or "allocate" or "rename"
                : operation == only;
            if (isRefused && path.Contains(directory + "/", StringComparison.Ordinal))
                throw new StorageIOException(operation == "sync" ? "fdatasync" : operation, path, IOError);
        };
        return new Fault(_files);
    }

    private Task<TestServer> StartAsync() =>
        TestServer.StartAsync(options =>
            options with
            {
                Broker = options.Broker with
                {
                    OpenEnvironment = environment => new JournalEnvironment(environment, _files),
                },
            }
        );

    private static LightQClient Connect(TestServer server, string user, string more = "") =>
        new(server.ConnectionString.Replace("lightq://", $"lightq://{user}", StringComparison.Ordinal) + more);

    private static async Task RefusedAsync(TestServer server, bool counts, Func<Task> call)
    {
        LightQException error = await Assert.ThrowsAsync<LightQException>(call);
        Assert.Equal(ErrorCode.Internal, error.Code);
        Assert.Contains(counts ? "counts from now on" : "does not count", error.Message, StringComparison.Ordinal);
        Assert.Contains("A restart may", error.Message, StringComparison.Ordinal);
        Assert.DoesNotContain(server.Directory, error.Message, StringComparison.Ordinal);
    }

    /// <summary>What counts behind all changes of the first test.</summary>
    private static async Task AssertInForceAsync(TestServer server)
    {
        LightQ.Broker.Users.UserTable users = server.Broker.Users.Table;
        Assert.Equal(["alice", "carol"], users.Users.Keys.Order(StringComparer.Ordinal));
        Assert.Empty(users.Tokens);
        Assert.Empty(users.Users["alice"].Grants);
        Assert.Equal(["orders"], server.Broker.Topics.Select(t => t.Name));
        Assert.Equal("own", server.Broker.GetTopic("orders").Credentials?.User);
        await using LightQClient carol = Connect(server, "carol:another%20password@");
        Assert.Equal("carol", (await carol.Users.WhoAmIAsync(Cancelled)).User);
    }

    private static async Task<ErrorCode> PublishCodeAsync(Producer producer)
    {
        try
        {
            await producer.PublishAsync("more"u8, cancellationToken: Cancelled);
            return ErrorCode.None;
        }
        catch (LightQException e)
        {
            return e.Code;
        }
    }

    private static Task<string> ReadyAsync(TestServer server) => server.Web.GetStringAsync("/healthz/ready", Cancelled);

    private static async Task AssertReadyAsync(TestServer server, string reason, string metric)
    {
        string ready = await ReadyAsync(server);
        Assert.StartsWith("ready, degraded: ", ready, StringComparison.Ordinal);
        Assert.Contains(reason, ready, StringComparison.Ordinal);
        Assert.Contains(
            metric + "\n",
            await server.Web.GetStringAsync("/metrics", Cancelled),
            StringComparison.Ordinal
        );
    }

    private static async Task FillAsync(LightQClient client, int messages)
    {
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        for (int i = 0; i < messages; i++)
            await producer.PublishAsync("job"u8, cancellationToken: Cancelled);
    }

    private static async Task SettleAsync(LightQClient client, int messages)
    {
        var options = new ConsumeOptions
        {
            Group = "workers",
            SettleMode = SettleMode.Explicit,
            MaxInFlight = 1,
        };
        await foreach (Message message in client.ConsumeAsync("jobs", options).WithCancellation(Cancelled))
        {
            Assert.Equal(SettleOutcome.Done, await message.CompleteAsync(Cancelled));
            if (--messages == 0)
                return;
        }
    }

    /// <summary>Where the group would go on if the broker were killed now.</summary>
    private static async Task<long> CommittedBehindKillAsync(TestServer server)
    {
        using TemporaryDirectory left = Copy(server.Directory);
        await using LightQBroker broker = await LightQBroker.OpenAsync(
            left.Path,
            new BrokerOptions(),
            TimeProvider.System
        );
        LightQ.Broker.Topics.Topic topic = broker.GetTopic("jobs");
        return broker.Groups.NamesOf(topic).Contains("workers")
            ? broker.Groups.Find(topic, "workers")[0].Committed
            : -1;
    }

    /// <summary>
    /// A data directory as a killed broker would leave it; files that come and go meanwhile do not matter.
    /// </summary>
    private static TemporaryDirectory Copy(string directory)
    {
        for (int tries = 0; ; tries++)
        {
            var copy = new TemporaryDirectory();
            try
            {
                foreach (
                    string file in Directory
                        .EnumerateFiles(directory, "*", SearchOption.AllDirectories)
                        .Where(f => !f.EndsWith(DataDirectoryLock.FileName, StringComparison.Ordinal))
                )
                {
                    string target = Path.Combine(copy.Path, Path.GetRelativePath(directory, file));
                    Directory.CreateDirectory(Path.GetDirectoryName(target)!);
                    File.Copy(file, target);
                }
                return copy;
            }
            catch (FileNotFoundException) when (tries < 100)
            {
                copy.Dispose();
            }
        }
    }

    /// <summary>
    /// The disk works again when it ends: a broker that stops before says that it could not store everything.
    /// </summary>
    private sealed class Fault(FaultyFileSystem files) : IDisposable
    {
        public void Dispose() => files.Before = (_, _) => { };
    }
}

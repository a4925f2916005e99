using System.Text;
using System.Text.Json;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Faults;
using LightQ.Server.Audit;
using LightQ.Server.Diagnosis;
using LightQ.Server.Security;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Security;

/// <summary>
/// A catalog that was damaged and repaired knows users, rights and tokens again that were taken away: that is said,
/// asked for, and looked at by an administrator before anybody else gets in.
/// </summary>
public sealed class CatalogRepairTests
{
    private const string Password = "correct horse battery staple",
        Accept = "--accept-lost-catalog-changes";
    private const int Unconfirmed = 3;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task What_a_repair_gives_back_counts_for_nobody_but_admin_until_an_administrator_confirms_it()
    {
        FaultRun.RequireTier("It runs processes.");
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        string bobsToken,
            adminsToken,
            tokenId;
        await using LightQClient alice = Connect(broker, "alice");
        await using (LightQClient admin = broker.ConnectAsAdmin())
        {
            await admin.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
            await admin.Topics.CreateAsync(new TopicSpec("old") { Kind = TopicKind.Durable }, Cancelled);
            foreach (string name in new[] { "alice", "bob", "carol" })
                await admin.Users.CreateAsync(name, Password, Cancelled);
            await admin.Users.GrantAsync("alice", UserRight.Publish, "orders", Cancelled);
            await admin.Users.GrantAsync("bob", UserRight.Consume, "orders", Cancelled);
            await admin.Users.GrantAsync("carol", UserRight.Consume, "orders", Cancelled);
            bobsToken = (await admin.Users.CreateTokenAsync("bob", null, cancellationToken: Cancelled)).Token;
            CreatedToken made = await admin.Users.CreateTokenAsync("admin", null, cancellationToken: Cancelled);
            (adminsToken, tokenId) = (made.Token, made.Info.Id);
            await using Producer producer = await alice.CreateProducerAsync("orders", cancellationToken: Cancelled);
            await producer.PublishAsync("secret"u8, cancellationToken: Cancelled);
            await admin.Users.DeleteAsync("bob", Cancelled);
            await admin.Users.RevokeAsync("carol", UserRight.Consume, "orders", Cancelled);
            await admin.Users.RevokeTokenAsync(tokenId, Cancelled);
            await admin.Topics.DeleteAsync("old", Cancelled);
            await admin.Users.CreateAsync("dora", Password, Cancelled);
            // Behind it lies what shows that all of this had been durable.
            await admin.Users.CreateAsync("last", Password, Cancelled);
        }
        await broker.KillAsync();
        string catalog = Path.Combine(directory.Path, "catalog");
        Damage(catalog, "DeletedUser", "\"Name\":\"carol\"", "DeletedToken", "DeletedTopic", "\"Name\":\"dora\"");
        byte[] damaged = File.ReadAllBytes(FileOf(catalog));

        // Neither --yes nor the way around by the catalog's own directory is enough.
        foreach (string path in new[] { directory.Path, catalog })
        {
            ToolResult asked = await LightQTool.RunAsync(null, "journal", "repair", path, "--yes");
            Assert.Equal(Unconfirmed, asked.ExitCode);
            Assert.Contains(Accept, asked.Errors, StringComparison.Ordinal);
            Assert.Contains("a deleted user or a revoked token may count again", asked.Text, StringComparison.Ordinal);
            foreach (
                string line in new[]
                {
                    "user-deleted bob: the catalog has it again",
                    "right-revoked carol, consume on orders: the catalog has it again",
                    $"token-revoked admin, token {tokenId}: the catalog has it again",
                    "topic-deleted old: the catalog has it again",
                    "user-created dora: the catalog no longer has it",
                }
            )
            {
                Assert.Contains($"admin: {line}\n", asked.Text, StringComparison.Ordinal);
            }

            Assert.DoesNotContain("user-created last", asked.Text, StringComparison.Ordinal);
        }
        Assert.Equal(damaged, File.ReadAllBytes(FileOf(catalog)));
        Assert.False(CatalogConfirmation.IsPending(directory.Path));
        ToolResult done = await LightQTool.RunAsync(
            null,
            "journal",
            "repair",
            directory.Path,
            "--yes",
            Accept,
            "--output",
            "json"
        );
        Assert.Equal(1, done.ExitCode); // The topic that is back has no files any more: that cannot be mended.
        JsonElement repaired = Assert.Single(JsonDocument.Parse(done.Text).RootElement.EnumerateArray());
        Assert.Equal(5, repaired.GetProperty("undone_changes").GetArrayLength());
        Assert.Contains(
            "user-deleted bob",
            File.ReadAllText(Path.Combine(directory.Path, CatalogConfirmation.FileName)),
            StringComparison.Ordinal
        );

        await broker.StartAsync();
        await AssertLimitedAsync(broker, bobsToken, adminsToken);
        await broker.KillAsync(); // That it is limited is on the disk.
        await broker.StartAsync();
        await AssertLimitedAsync(broker, bobsToken, adminsToken);

        await using (LightQClient admin = broker.ConnectAsAdmin())
        {
            await admin.Users.DeleteAsync("bob", Cancelled);
            await admin.Users.RevokeAsync("carol", UserRight.Consume, "orders", Cancelled);
            await admin.Users.RevokeTokenAsync(tokenId, Cancelled);
            await admin.Topics.DeleteAsync("old", Cancelled);
        }
        ToolResult confirmed = await LightQTool.RunWithAsync(
            [("LIGHTQ_PASSWORD_FILE", Path.Combine(directory.Path, "admin-password"))],
            "server",
            "confirm-catalog",
            "--server",
            $"lightq://admin@127.0.0.1:{broker.DataPort}?control={broker.ControlPort}"
        );
        Assert.Contains("all users may log in again", confirmed.Succeeded().Text, StringComparison.Ordinal);

        // Who was refused has tried again, and gets in by itself.
        await Eventually.TrueAsync(
            () => alice.State == ConnectionState.Connected,
            Patience,
            () => $"alice is {alice.State}"
        );
        await using (Producer producer = await alice.CreateProducerAsync("orders", cancellationToken: Cancelled))
            Assert.Equal(1, (await producer.PublishAsync("more"u8, cancellationToken: Cancelled)).Offset);
        foreach (string token in new[] { bobsToken, adminsToken })
            Assert.Equal(ErrorCode.Unauthenticated, await CodeAsync(new LightQClientOptions { Token = token }, broker));
        Assert.Equal("ready\n", await ReadyAsync(broker));
        Assert.False(CatalogConfirmation.IsPending(directory.Path));
        await broker.KillAsync();
        await broker.StartAsync();
        await using (LightQClient again = Connect(broker, "alice"))
            Assert.Equal("alice", (await again.Users.WhoAmIAsync(Cancelled)).User);
        var lines = new List<AuditLine>();
        AuditVerifier.Verify(directory.Path, read: lines.Add);
        Assert.Equal(
            ["broker", "broker", "admin"],
            lines.Where(l => l.Event is "catalog-unconfirmed" or "catalog-confirmed").Select(l => l.Actor)
        );
    }

    [Fact]
    public async Task Without_an_audit_log_it_says_so_and_nothing_is_lost_where_nothing_has_to_be_given_up()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", Broker.Topics.TopicKind.Durable);
        await server.CreateTopicAsync("others", Broker.Topics.TopicKind.Durable);
        string catalog = Path.Combine(server.Directory, "catalog");
        await server.RestartAsync(() =>
        {
            byte[] bytes = File.ReadAllBytes(FileOf(catalog));
            bytes[20] ^= 1; // The header page, which follows from what is around it.
            File.WriteAllBytes(FileOf(catalog), bytes);
            Assert.Equal(
                0,
                LightQTool
                    .RunAsync(null, "journal", "repair", server.Directory, "--yes")
                    .GetAwaiter()
                    .GetResult()
                    .ExitCode
            );
        });
        Assert.False(CatalogConfirmation.IsPending(server.Directory));
        Assert.Equal("ready\n", await server.Web.GetStringAsync("/healthz/ready", Cancelled));

        await server.RestartAsync(() =>
        {
            Directory.Delete(Path.Combine(server.Directory, "audit"), recursive: true);
            Damage(catalog, "\"Name\":\"orders\"");
            ToolResult asked = LightQTool
                .RunAsync(null, "journal", "repair", server.Directory, "--yes")
                .GetAwaiter()
                .GetResult();
            Assert.Equal(Unconfirmed, asked.ExitCode);
            Assert.Contains("there is no audit log", asked.Text, StringComparison.Ordinal);

            // It is to be confirmed before anything is changed: a repair that ends in between leaves nobody let in.
            string quarantine = Path.Combine(catalog, "quarantine");
            byte[] damaged = File.ReadAllBytes(FileOf(catalog));
            Directory.Delete(quarantine, recursive: true);
            File.WriteAllText(quarantine, "in the way");
            Assert.NotEqual(
                0,
                LightQTool
                    .RunAsync(null, "journal", "repair", server.Directory, "--yes", Accept)
                    .GetAwaiter()
                    .GetResult()
                    .ExitCode
            );
            Assert.Equal(damaged, File.ReadAllBytes(FileOf(catalog)));
            Assert.True(CatalogConfirmation.IsPending(server.Directory));
            File.Delete(quarantine);
            Assert.Equal(
                0,
                LightQTool
                    .RunAsync(null, "journal", "repair", server.Directory, "--yes", Accept)
                    .GetAwaiter()
                    .GetResult()
                    .ExitCode
            );
        });
        // A broker whose users were all lost would be open to everybody on this machine.
        Assert.Equal(
            "PermissionDenied",
            (
                await Assert.ThrowsAsync<LightQException>(async () =>
                {
                    await using var anonymous = new LightQClient(server.ConnectionString);
                    await anonymous.ConnectAsync(Cancelled);
                })
            ).Code.ToString()
        );
    }

    private static async Task AssertLimitedAsync(FaultBroker broker, params string[] tokens)
    {
        LightQClientOptions[] refused =
        [
            new LightQClientOptions { User = "alice", Password = Password },
            // The same: nothing is told of passwords.
            new LightQClientOptions { User = "alice", Password = "a wrong guess" },
            new LightQClientOptions(),
            .. tokens.Select(token => new LightQClientOptions { Token = token }),
        ];
        foreach (LightQClientOptions shown in refused)
            Assert.Equal(ErrorCode.PermissionDenied, await CodeAsync(shown, broker));
        // The topic that is back has no files any more.
        Assert.Equal(
            "ready, degraded: 1 of 2 topics have failed, the catalog was repaired and only admin may log in "
                + "until it is confirmed\n",
            await ReadyAsync(broker)
        );
        Assert.Contains(
            "only admin may log in until 'lightq server confirm-catalog'",
            broker.Log,
            StringComparison.Ordinal
        );
        using var web = new HttpClient();
        Assert.Contains(
            "lightq_catalog_unconfirmed 1\n",
            await web.GetStringAsync($"http://127.0.0.1:{broker.WebPort}/metrics", Cancelled),
            StringComparison.Ordinal
        );
        Assert.Equal(
            CheckResult.Warning,
            Assert.Single(new DirectoryChecks(broker.Directory).Run(), f => f.Check == "catalog").Result
        );
        await using LightQClient admin = broker.ConnectAsAdmin();
        Assert.True((await admin.Stats.GetBrokerAsync(Cancelled)).IsCatalogUnconfirmed);
        await using (Producer producer = await admin.CreateProducerAsync("orders", cancellationToken: Cancelled))
            Assert.Equal("orders", (await admin.Topics.GetAsync("orders", Cancelled)).Name);
        using var backups = new TemporaryDirectory();
        ToolResult backup = await LightQTool.RunWithAsync(
            [("LIGHTQ_PASSWORD_FILE", Path.Combine(broker.Directory, "admin-password"))],
            "backup",
            Path.Combine(backups.Path, "b"),
            "--server",
            $"lightq://admin@127.0.0.1:{broker.DataPort}?control={broker.ControlPort}"
        );
        Assert.NotEqual(0, backup.ExitCode);
        Assert.Contains("is not confirmed", backup.Errors, StringComparison.Ordinal);
    }

    /// <returns>How a login is answered, on both planes.</returns>
    private static async Task<ErrorCode> CodeAsync(LightQClientOptions shown, FaultBroker broker)
    {
        await using var client = new LightQClient(
            shown with
            {
                DataPort = broker.DataPort,
                ControlPort = broker.ControlPort,
            }
        );
        ErrorCode data = (await Assert.ThrowsAsync<LightQException>(() => client.ConnectAsync(Cancelled))).Code;
        Assert.Equal(data, (await Assert.ThrowsAsync<LightQException>(() => client.Users.WhoAmIAsync(Cancelled))).Code);
        return data;
    }

    private static LightQClient Connect(FaultBroker broker, string user) =>
        new(
            new LightQClientOptions
            {
                DataPort = broker.DataPort,
                ControlPort = broker.ControlPort,
                User = user,
                Password = Password,
                ReconnectDelay = TimeSpan.FromMilliseconds(5),
                MaxReconnectDelay = TimeSpan.FromMilliseconds(50),
            }
        );

    private static async Task<string> ReadyAsync(FaultBroker broker)
    {
        using var web = new HttpClient();
        return await web.GetStringAsync($"http://127.0.0.1:{broker.WebPort}/healthz/ready", Cancelled);
    }

    private static string FileOf(string catalog) => Assert.Single(Directory.GetFiles(catalog, "*.seg"));

    /// <summary>Flips a bit in the last record that has each of these texts.</summary>
    private static void Damage(string catalog, params string[] texts)
    {
        byte[] bytes = File.ReadAllBytes(FileOf(catalog));
        foreach (string text in texts)
        {
            int at = bytes.AsSpan().LastIndexOf(Encoding.UTF8.GetBytes(text));
            Assert.True(at > 0, $"No record has {text}.");
            bytes[at + 3] ^= 1;
        }
        File.WriteAllBytes(FileOf(catalog), bytes);
    }
}

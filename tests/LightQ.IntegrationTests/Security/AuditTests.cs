using System.Text;
using System.Text.Json;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Cli;
using LightQ.Server.Audit;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Security;

/// <summary>What a broker's audit log says after somebody has used all that it is to say something of.</summary>
public sealed class AuditTests
{
    private const string Password = "correct horse battery staple",
        Another = "another password";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task Everything_that_changes_who_may_do_what_or_what_there_is_is_told_with_who_did_it()
    {
        await using TestServer server = await TestServer.StartAsync();
        var secrets = new List<string> { server.AdminPassword, Password, Another };
        string anyone = server.ConnectionString,
            admin = anyone.Replace("lightq://", $"lightq://admin:{server.AdminPassword}@", StringComparison.Ordinal);
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        await using (var client = new LightQClient(anyone))
        {
            await client.Topics.EnsureAsync(new TopicSpec("orders") { Kind = Client.TopicKind.Durable }, cancellation);
            var subscribed = new TaskCompletionSource();
            var options = new ConsumeOptions
            {
                Group = "workers",
                SettleMode = SettleMode.Explicit,
                OnSubscribed = _ => subscribed.TrySetResult(),
            };
            await using (MessageConsumer consumer = client.CreateConsumer("orders", options))
            {
                await consumer.FetchAsync(1, TimeSpan.FromMilliseconds(1), cancellationToken: cancellation);
                await subscribed.Task.WaitAsync(Patience, cancellation);
            }
            await Eventually.TrueAsync(
                async () => (await client.Groups.GetAsync("orders", "workers", cancellation)).ClientsCount == 0,
                Patience,
                () => "the member does not leave"
            );
        }
        await using (var client = new LightQClient(admin))
        {
            await client.Users.CreateAsync("alice", Password, cancellation);
            await client.Users.GrantAsync("alice", UserRight.Publish, "orders", cancellation);
            await client.Users.SetPasswordAsync("alice", Another, null, cancellation);
            CreatedToken token = await client.Users.CreateTokenAsync(
                "alice",
                TimeSpan.FromHours(1),
                cancellationToken: cancellation
            );
            secrets.Add(token.Token);
            await client.Users.RevokeTokenAsync(token.Info.Id, cancellation);
            await client.Users.RevokeAsync("alice", UserRight.Publish, "orders", cancellation);
            await client.Topics.SetCredentialsAsync("orders", "bob", Password, cancellation);
            await client.Topics.TruncateAsync("orders", 0, cancellationToken: cancellation);
            await client.Groups.ResetAsync(
                "orders",
                "workers",
                StartPosition.Earliest,
                cancellationToken: cancellation
            );
            await client.Groups.RedriveAsync("orders", "workers", cancellation);
            await client.Groups.DeleteAsync("orders", "workers", cancellation);
            await client.Topics.DeleteAsync("orders", cancellation);
            await client.Users.DeleteAsync("alice", cancellation);
            await client.Users.CreateAsync("carol", Password, cancellation);
        }
        await using (
            var stranger = new LightQClient(
                anyone.Replace("lightq://", "lightq://carol:a%20wrong%20guess@", StringComparison.Ordinal)
            )
        )
        {
            await Assert.ThrowsAsync<LightQException>(() => stranger.Users.WhoAmIAsync(cancellation));
        }

        await server.Server.StopAsync();

        var lines = new List<AuditLine>();
        AuditReport report = AuditVerifier.Verify(server.Directory, read: lines.Add);
        Assert.Null(report.Finding);
        string[] told =
        [
            .. lines
                .Where(l => l.Actor is "admin" or "anonymous" && !l.Event.StartsWith("log", StringComparison.Ordinal))
                .Select(l => $"{l.Event} {l.Subject} {l.Plane}"),
        ];
        Assert.Equal(
            [
                "topic-created orders control",
                "user-created alice control",
                "right-granted alice control",
                "password-changed alice control",
                "token-created alice control",
                "token-revoked alice control",
                "right-revoked alice control",
                "topic-credentials-changed orders control",
                "topic-truncated orders control",
                "group-reset orders/workers control",
                "group-redriven orders/workers control",
                "group-deleted orders/workers control",
                "topic-deleted orders control",
                "user-deleted alice control",
                "user-created carol control",
            ],
            told
        );
        Assert.Equal(["chain-started", "broker-started"], lines.Take(2).Select(l => l.Event));
        Assert.Equal(["broker-stopping", "broker-stopped"], lines.TakeLast(2).Select(l => l.Event));
        Assert.Contains(
            lines,
            l => (l.Event, l.Actor, l.Detail, l.Plane) == ("login-accepted", "admin", "password", "control")
        );
        Assert.Contains(
            lines,
            l =>
                (l.Event, l.Actor, l.Detail) == ("login-refused", "carol", "password")
                && l.Peer.StartsWith("127.0.0.1:", StringComparison.Ordinal)
        );
        string all = string.Concat(
            Directory.GetFiles(Path.Combine(server.Directory, AuditFiles.DirectoryName)).Select(File.ReadAllText)
        );
        Assert.DoesNotContain(secrets, s => all.Contains(s, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Logins_on_the_data_plane_are_there_within_a_second_and_a_restart_goes_on()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        string bad = server.ConnectionString.Replace("lightq://", "lightq://admin:wrong@", StringComparison.Ordinal);
        await using (var client = new LightQClient(bad))
        {
            await Assert.ThrowsAsync<LightQException>(async () =>
                await client.ConnectAsync(TestContext.Current.CancellationToken)
            );
        }

        string directory = server.Directory;
        await Eventually.TrueAsync(
            () => Read(directory).Any(l => l is { Event: "login-refused", Plane: "data", Actor: "admin" }),
            TimeSpan.FromSeconds(10),
            () => "no login"
        );
        await server.RestartAsync();
        await server.Server.StopAsync();
        Assert.Equal(2, Read(directory).Count(l => l.Event == "broker-started"));
        Assert.Single(Read(directory), l => l.Event == "chain-started");
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_tool_verifies_and_shows()
    {
        FaultRun.RequireTier("It starts processes.");
        await using TestServer server = await TestServer.StartAsync();
        await using (var client = new LightQClient(server.ConnectionString))
        {
            await client.Topics.EnsureAsync(
                new TopicSpec("orders") { Kind = TopicKind.Transient },
                TestContext.Current.CancellationToken
            );
        }

        ToolResult clean = (
            await LightQTool.RunAsync(null, "audit", "verify", server.Directory, "--output", "json")
        ).Succeeded(); // The broker is running.
        string head = JsonDocument.Parse(clean.Text).RootElement.GetProperty("head").GetString()!;
        (await LightQTool.RunAsync(null, "audit", "verify", server.Directory, "--expect", head)).Succeeded();
        Assert.Contains(
            "\"subject\":\"orders\"",
            (await LightQTool.RunAsync(null, "audit", "show", server.Directory, "--event", "topic", "--output", "json"))
                .Succeeded()
                .Text,
            StringComparison.Ordinal
        );
        (await LightQTool.RunAsync(null, "audit", "verify", server.Directory, "--expect", "1:zz")).FailedWith(
            2,
            "NUMBER:HASH"
        );
        (await LightQTool.RunAsync(null, "audit", "verify", Path.Combine(server.Directory, "nowhere"))).FailedWith(
            1,
            "There is no"
        );
        await server.Server.StopAsync();
        string file = Directory.GetFiles(Path.Combine(server.Directory, AuditFiles.DirectoryName), "*.jsonl").Single();
        string[] lines = await File.ReadAllLinesAsync(file, TestContext.Current.CancellationToken);
        await File.WriteAllLinesAsync(
            file,
            lines.Where((_, i) => i != 2),
            new UTF8Encoding(false),
            TestContext.Current.CancellationToken
        );
        ToolResult damaged = await LightQTool.RunAsync(null, "audit", "verify", server.Directory);
        Assert.Equal(1, damaged.ExitCode);
        Assert.Contains(
            $"missing: {Path.GetFileName(file)}, line 3: line 3 is gone",
            damaged.Text,
            StringComparison.Ordinal
        );
    }

    private static List<AuditLine> Read(string directory)
    {
        var lines = new List<AuditLine>();
        AuditReport report = AuditVerifier.Verify(directory, read: lines.Add);
        Assert.Null(report.Finding);
        return lines;
    }
}

using System.Text;
using System.Text.Json;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq user</c>, <c>grant</c> and <c>token</c>, as in docs/operate/security.md.</summary>
[Trait("Tier", "C")]
public sealed class UserCommandTests
{
    private const string Password = "correct horse battery staple";

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_user_is_made_given_rights_and_a_token_and_deleted()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders.eu");
        await server.CreateTopicAsync("invoices");
        string anyone = server.ConnectionString,
            admin = anyone.Replace("lightq://", $"lightq://admin:{server.AdminPassword}@", StringComparison.Ordinal);
        string alice = anyone.Replace(
            "lightq://",
            $"lightq://alice:{Uri.EscapeDataString(Password)}@",
            StringComparison.Ordinal
        );

        (
            await LightQTool.RunAsync(
                anyone,
                Encoding.UTF8.GetBytes(Password + "\n"),
                "user",
                "create",
                "alice",
                "--password-file",
                "-"
            )
        ).Succeeded();
        (await LightQTool.RunAsync(anyone, "user", "list")).FailedWith(77, "LIGHTQ_PASSWORD");
        (await LightQTool.RunAsync(alice, "pub", "orders.eu", "no")).FailedWith(77, "publish on 'orders.eu'");
        Assert.Contains(
            "may now publish on orders.*",
            (await LightQTool.RunAsync(admin, "grant", "add", "alice", "publish", "orders.*")).Succeeded().Text,
            StringComparison.Ordinal
        );
        (await LightQTool.RunAsync(alice, "pub", "orders.eu", "yes")).Succeeded();
        (await LightQTool.RunAsync(alice, "pub", "invoices", "no")).FailedWith(77, "publish on 'invoices'");

        string token = (await LightQTool.RunAsync(alice, "token", "create", "--expires", "30d"))
            .Succeeded()
            .Text.Trim();
        string id = JsonDocument
            .Parse((await LightQTool.RunAsync(admin, "token", "list", "--output", "json")).Succeeded().Text)
            .RootElement[0]
            .GetProperty("id")
            .GetString()!;
        await using (var client = new LightQClient($"{anyone}&token={token}"))
        {
            CallerInfo caller = await client.Users.WhoAmIAsync(TestContext.Current.CancellationToken);
            Assert.Equal(
                ("alice", false, new UserGrantInfo("alice", UserRight.Publish, "orders.*")),
                (caller.User, caller.IsAdmin, Assert.Single(caller.Grants))
            );
        }
        (await LightQTool.RunAsync(admin, "token", "revoke", id)).Succeeded();

        using var directory = new TemporaryDirectory();
        string file = directory.File("alice.token");
        await File.WriteAllTextAsync(file, "the one before", TestContext.Current.CancellationToken);
        string said = (await LightQTool.RunAsync(alice, "token", "create", "--expires", "30d", "--to", file))
            .Succeeded()
            .Text;
        string written = (await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken)).Trim();
        Assert.DoesNotContain(written, said, StringComparison.Ordinal);
        Assert.Single(Directory.GetFiles(directory.Path));
        (await LightQTool.RunAsync(alice, "token", "create", "--to", directory.File("missing/alice.token"))).FailedWith(
            1,
            "is not there"
        );
        if (!OperatingSystem.IsWindows())
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file));
        (await LightQTool.RunAsync($"{anyone}&token={token}", "pub", "orders.eu", "no")).FailedWith(
            77,
            "token is unknown"
        );

        Assert.Contains(
            "orders.*",
            (await LightQTool.RunAsync(alice, "grant", "list", "alice")).Succeeded().Text,
            StringComparison.Ordinal
        );
        (await LightQTool.RunAsync(admin, "grant", "remove", "alice", "publish", "orders.*")).Succeeded();
        (await LightQTool.RunAsync(alice, "pub", "orders.eu", "no")).FailedWith(77, "publish on 'orders.eu'");
        (await LightQTool.RunAsync(admin, "user", "delete", "alice")).Succeeded();
        Assert.Equal(
            "[]",
            (await LightQTool.RunAsync(admin, "user", "list", "--output", "json")).Succeeded().Text.Trim()
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_bench_logs_in_with_what_the_environment_has()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        string admin = server.ConnectionString.Replace("lightq://", "lightq://admin@", StringComparison.Ordinal);
        ToolResult bench = await LightQTool.RunWithAsync(
            [("LIGHTQ_PASSWORD", server.AdminPassword)],
            "bench",
            "throughput",
            "--server",
            admin,
            "--sizes",
            "100",
            "--messages",
            "1000",
            "--pairs",
            "1"
        );
        Assert.Contains("100 B", bench.Succeeded().Text, StringComparison.Ordinal);
    }

    [Fact]
    [Trait("Plain", "no")]
    public async Task The_password_may_be_in_a_file_that_the_environment_names()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var directory = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        string admin = server.ConnectionString.Replace("lightq://", "lightq://admin@", StringComparison.Ordinal),
            file = Path.Combine(directory.Path, "password");
        (await ListAsync(file)).FailedWith(2, $"The file '{file}' that LIGHTQ_PASSWORD_FILE names cannot be read");
        (await ListAsync(directory.Path)).FailedWith(
            2,
            $"The file '{directory.Path}' that LIGHTQ_PASSWORD_FILE names cannot be read"
        );
        await File.WriteAllTextAsync(file, server.AdminPassword + "\n", TestContext.Current.CancellationToken);
        (await ListAsync(file)).Succeeded();

        Task<ToolResult> ListAsync(string passwordFile) =>
            LightQTool.RunWithAsync([("LIGHTQ_PASSWORD_FILE", passwordFile)], "user", "list", "--server", admin);
    }

    [Fact]
    [Trait("Plain", "no")]
    public async Task What_is_wrong_is_said_with_what_is_allowed()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        (
            await LightQTool.RunAsync(
                server.ConnectionString.Replace("lightq://", "lightq://admin@", StringComparison.Ordinal),
                "user",
                "list"
            )
        ).FailedWith(2, "There is no password for the user admin");
        (await LightQTool.RunAsync(server.ConnectionString, "user", "create", "alice")).FailedWith(
            2,
            "--password-file"
        );
        (
            await LightQTool.RunAsync(
                server.ConnectionString,
                "short\n"u8.ToArray(),
                "user",
                "create",
                "alice",
                "--password-file",
                "-"
            )
        ).FailedWith(2, "8 to 500");
        (await LightQTool.RunAsync(server.ConnectionString, "user", "create", "a/b", "--no-password")).FailedWith(
            2,
            "not a user's name"
        );
        (await LightQTool.RunAsync(server.ConnectionString, "grant", "add", "alice", "publish")).FailedWith(
            2,
            "The topic is missing"
        );
        (await LightQTool.RunAsync(server.ConnectionString, "grant", "add", "alice", "rule", "t")).FailedWith(
            2,
            "publish, consume, manage, admin"
        );
        (await LightQTool.RunAsync(server.ConnectionString, "grant", "add", "alice", "publish", "t")).FailedWith(
            1,
            "no user 'alice'"
        );
    }
}

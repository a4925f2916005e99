using System.Text;
using System.Text.Json;
using LightQ.Cli.Output;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq context</c>: names for brokers, which one a command asks, and what is never printed.</summary>
public sealed class ContextTests
{
    private const string Secret = "gallery-ladder-0451";

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_broker_is_asked_by_its_name_and_the_file_is_its_owners_alone()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var home = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("of-the-context");

        ToolResult added = await RunAsync(home, "context", "add", "test", "--server", server.ConnectionString);
        Assert.Contains("'lightq context use test' uses it", added.Succeeded().Text, StringComparison.Ordinal);
        Assert.Equal(["of-the-context"], await TopicsAsync(home, [], "--context", "test"));
        (await RunAsync(home, "context", "use", "test")).Succeeded();
        Assert.Equal(["of-the-context"], await TopicsAsync(home, []));

        JsonElement listed = Assert.Single(await ListAsync(home));
        Assert.Equal(
            ("test", true, server.ConnectionString),
            (
                listed.GetProperty("name").GetString(),
                listed.GetProperty("is_current").GetBoolean(),
                listed.GetProperty("server").GetString()
            )
        );
        if (!OperatingSystem.IsWindows())
        {
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(FileOf(home)));
            Assert.Equal(
                UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute,
                File.GetUnixFileMode(Path.GetDirectoryName(FileOf(home))!)
            );
        }

        (await RunAsync(home, "context", "remove", "test")).Succeeded();
        Assert.Empty(await ListAsync(home));
        (await RunAsync(home, "topic", "list", "--context", "test")).FailedWith(
            ExitCode.Usage,
            "There is no context 'test', which --context names"
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task An_option_comes_before_the_environment_and_that_before_the_context_in_use()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var home = new TemporaryDirectory();
        await using TestServer first = await TestServer.StartAsync(),
            second = await TestServer.StartAsync(),
            third = await TestServer.StartAsync();
        await first.CreateTopicAsync("first");
        await second.CreateTopicAsync("second");
        await third.CreateTopicAsync("third");
        foreach ((string name, TestServer server) in new[] { ("a", first), ("b", second), ("c", third) })
            (await RunAsync(home, "context", "add", name, "--server", server.ConnectionString)).Succeeded();
        (await RunAsync(home, "context", "use", "a")).Succeeded();
        (string, string) variable = ("LIGHTQ_SERVER", second.ConnectionString),
            named = ("LIGHTQ_CONTEXT", "c");

        Assert.Equal(["first"], await TopicsAsync(home, []));
        Assert.Equal(["third"], await TopicsAsync(home, [named]));
        Assert.Equal(["second"], await TopicsAsync(home, [named, variable]));
        Assert.Equal(["third"], await TopicsAsync(home, [variable], "--context", "c"));
        Assert.Equal(["third"], await TopicsAsync(home, [variable], "--server", third.ConnectionString));
        (await RunAsync(home, "topic", "list", "--server", third.ConnectionString, "--context", "c")).FailedWith(
            ExitCode.Usage,
            "--server and --context both name a broker"
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task No_secret_is_printed_and_each_of_them_logs_in()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var home = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await server.CreateTopicAsync("orders");
        string password = server.AdminPassword.Trim();
        await File.WriteAllTextAsync(home.File("password"), password + "\n", TestContext.Current.CancellationToken);
        string url = server.ConnectionString,
            withUser = url.Replace("lightq://", "lightq://admin@", StringComparison.Ordinal),
            withPassword = url.Replace(
                "lightq://",
                $"lightq://admin:{Uri.EscapeDataString(password)}@",
                StringComparison.Ordinal
            );
        ToolResult token = await RunAsync(home, "token", "create", "--server", withPassword);
        string made = token.Succeeded().Text.Trim();
        await File.WriteAllTextAsync(home.File("token"), made, TestContext.Current.CancellationToken);
        string[][] contexts =
        [
            ["file", "--server", url, "--user", "admin", "--password-file", home.File("password")],
            ["inside", "--server", withPassword],
            ["token-file", "--server", url, "--token-file", home.File("token")],
            ["token", "--server", $"{url}{(url.Contains('?') ? '&' : '?')}token={made}"],
            ["environment", "--server", withUser],
        ];
        var printed = new StringBuilder();

        foreach (string[] context in contexts)
        {
            printed.Append((await RunAsync(home, ["context", "add", .. context])).Succeeded().Text);
            (string, string)[] environment =
                context[0] == "environment" ? [("LIGHTQ_PASSWORD", password)] : [("LIGHTQ_PASSWORD", Secret)];
            Assert.Equal(["orders"], await TopicsAsync(home, environment, "--context", context[0]));
            printed.Append((await RunAsync(home, "context", "show", context[0])).Succeeded().Text);
            printed.Append((await RunAsync(home, "context", "show", context[0], "--output", "json")).Succeeded().Text);
        }
        printed.Append((await RunAsync(home, "context", "list")).Succeeded().Text);

        Assert.Contains("admin, password from a file", printed.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain(password, printed.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain(made, printed.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_file_that_others_may_read_is_refused_and_so_is_a_damaged_one()
    {
        FaultRun.RequireTier("It starts many processes.");
        Assert.SkipWhen(OperatingSystem.IsWindows(), "Windows has other rights than modes.");
        using var home = new TemporaryDirectory();
        (await RunAsync(home, "context", "add", "test", "--server", "broker.example", "--use")).Succeeded();
        foreach (UnixFileMode more in new[] { UnixFileMode.GroupRead, UnixFileMode.OtherRead, UnixFileMode.OtherWrite })
        {
            SetMode(home, UnixFileMode.UserRead | UnixFileMode.UserWrite | more);
            (await RunAsync(home, "context", "list")).FailedWith(ExitCode.Usage, "chmod 600");
            (await RunAsync(home, "topic", "list")).FailedWith(ExitCode.Usage, "other users of this machine");
            (await RunAsync(home, "context", "add", "more", "--server", "x")).FailedWith(ExitCode.Usage, "chmod 600");
        }

        SetMode(home, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        Assert.Single(await ListAsync(home));
        await File.WriteAllTextAsync(
            FileOf(home),
            """{ "contexts": { "test": { "servr": "x" } } }""",
            TestContext.Current.CancellationToken
        );
        (await RunAsync(home, "context", "list")).FailedWith(ExitCode.Usage, "damaged, or of another version");
    }

    [Theory]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    [InlineData("--", "context", "add", "no spaces", "--server", "x")]
    [InlineData("is no name of a context", "context", "add", "-x/y", "--server", "x")]
    [InlineData("no connection string|connection string is not valid", "context", "add", "x", "--server", "a?b=c")]
    [InlineData("--password-file needs a user", "context", "add", "x", "--server", "a", "--password-file", "p")]
    [InlineData("one secret at most", "context", "add", "x", "--server", "lightq://u:p@a", "--password-file", "p")]
    [InlineData("give cert=FILE too", "context", "add", "x", "--server", "a", "--key", "k")]
    [InlineData("There is no context 'x'", "context", "use", "x")]
    [InlineData("Give a NAME, or --none", "context", "use")]
    [InlineData("There is no context 'x'", "context", "remove", "x")]
    [InlineData("No context is in use", "context", "show")]
    [InlineData("There is no context 'x'", "doctor", "--context", "x")]
    [InlineData("There is no context 'x'", "pub", "orders", "hello", "--context", "x")]
    [InlineData("There is no context 'x'", "bench", "throughput", "--context", "x")]
    public async Task What_cannot_be_is_refused(string says, params string[] command)
    {
        FaultRun.RequireTier("It starts many processes.");
        using var home = new TemporaryDirectory();
        ToolResult result = await RunAsync(home, command);
        Assert.Equal(ExitCode.Usage, result.ExitCode);
        Assert.True(
            says.Split('|').Any(s => result.Errors.Contains(s, StringComparison.Ordinal)),
            $"It says: {result.Errors}"
        );
        Assert.False(File.Exists(FileOf(home)));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_context_is_replaced_only_on_demand_and_many_at_once_lose_none()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var home = new TemporaryDirectory();
        await Task.WhenAll(
            Enumerable
                .Range(0, 6)
                .Select(async i => (await RunAsync(home, "context", "add", $"c{i}", "--server", $"n{i}")).Succeeded())
        );
        Assert.Equal(6, (await ListAsync(home)).Length);

        (await RunAsync(home, "context", "add", "c0", "--server", "other")).FailedWith(ExitCode.Usage, "--replace");
        (await RunAsync(home, "context", "add", "c0", "--server", "other", "--replace")).Succeeded();
        Assert.Equal("lightq://other:5700", (await ListAsync(home))[0].GetProperty("server").GetString());
    }

    private static void SetMode(TemporaryDirectory home, UnixFileMode mode)
    {
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(FileOf(home), mode);
    }

    private static string FileOf(TemporaryDirectory home) => Path.Combine(home.Path, "lightq", "contexts.json");

    private static Task<ToolResult> RunAsync(TemporaryDirectory home, params string[] arguments) =>
        LightQTool.RunWithAsync([("XDG_CONFIG_HOME", home.Path), ("APPDATA", home.Path)], arguments);

    private static async Task<JsonElement[]> ListAsync(TemporaryDirectory home) =>
        [
            .. JsonDocument
                .Parse((await RunAsync(home, "context", "list", "--output", "json")).Succeeded().Text)
                .RootElement.EnumerateArray(),
        ];

    private static async Task<string?[]> TopicsAsync(
        TemporaryDirectory home,
        (string, string)[] environment,
        params string[] more
    )
    {
        ToolResult result = await LightQTool.RunWithAsync(
            [("XDG_CONFIG_HOME", home.Path), .. environment],
            ["topic", "list", "--interval", "none", "--output", "json", .. more]
        );
        return
        [
            .. JsonDocument
                .Parse(result.Succeeded().Text)
                .RootElement.EnumerateArray()
                .Select(t => t.GetProperty("name").GetString()),
        ];
    }
}

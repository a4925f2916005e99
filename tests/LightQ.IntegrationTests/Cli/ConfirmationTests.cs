using System.Diagnostics;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>What cannot be undone is asked for on a terminal, and wants <c>--yes</c> elsewhere.</summary>
public sealed class ConfirmationTests
{
    private const int Unconfirmed = 3;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Topics_and_groups_are_deleted_and_truncated_only_when_somebody_says_yes()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await FillAsync(server, client);

        (await RunAsync(server, "topic", "truncate", "t", "--all")).FailedWith(
            Unconfirmed,
            "Nothing was changed. Give --yes to remove 2 messages from t."
        );
        (await RunAsync(server, "topic", "truncate", "t/0", "--before", "1")).FailedWith(
            Unconfirmed,
            "Give --yes to remove those below offset 1 of 2 messages from t/0."
        );
        (await RunAsync(server, "group", "delete", "t", "g", "--output", "json")).FailedWith(
            Unconfirmed,
            "Give --yes to forget the group g of t and its position, 1 message behind the end."
        );
        (await RunAsync(server, "topic", "delete", "t")).FailedWith(
            Unconfirmed,
            "Give --yes to delete the topic t with 2 messages."
        );
        Assert.Equal(0, (await client.Topics.GetAsync("t", Cancelled)).StartOffsets[0]);
        Assert.Equal("g", (await client.Groups.GetAsync("t", "g", Cancelled)).Group);

        (await RunAsync(server, "topic", "truncate", "t/0", "--before", "1", "--yes")).Succeeded();
        (await RunAsync(server, "group", "delete", "t", "g", "--yes")).Succeeded();
        (await RunAsync(server, "topic", "delete", "t", "--yes")).Succeeded();
        Assert.False(server.Broker.TryGetTopic("t", out _));
    }

    [Theory]
    [InlineData("no", false)]
    [InlineData("yes", true)]
    public async Task On_a_terminal_it_is_asked(string answer, bool isDeleted)
    {
        const string Script = "/usr/bin/script"; // Runs a command on a terminal of its own.
        Assert.SkipUnless(File.Exists(Script), $"{Script} is missing.");
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await FillAsync(server, client);
        var start = new ProcessStartInfo(
            Script,
            ["-qec", $"{LightQTool.Typed} topic delete t --server '{server.ConnectionString}'", "/dev/null"]
        )
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        using Process asking = Process.Start(start)!;
        await asking.StandardInput.WriteLineAsync(answer);
        await asking.StandardInput.FlushAsync(Cancelled);

        string shown = await asking.StandardOutput.ReadToEndAsync(Cancelled);
        await LightQTool.EndAsync(asking);

        Assert.Contains("This will delete the topic t with 2 messages. Type yes: ", shown, StringComparison.Ordinal);
        Assert.Equal(
            (isDeleted ? 0 : Unconfirmed, !isDeleted),
            (asking.ExitCode, server.Broker.TryGetTopic("t", out _))
        );
    }

    [Fact]
    public async Task A_name_that_a_shell_has_taken_for_files_is_noticed()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        using var directory = new TemporaryDirectory();
        string[] files = [Path.Combine(directory.Path, "orders.eu"), Path.Combine(directory.Path, "orders.us")];
        await client.Users.CreateAsync("ann", null, Cancelled);
        string url = server.ConnectionString.Replace(
            "lightq://",
            $"lightq://admin:{server.AdminPassword}@",
            StringComparison.Ordinal
        );

        Assert.Equal("", (await GrantAsync("orders.*")).Succeeded().Errors);
        await File.WriteAllTextAsync(files[0], "", Cancelled);
        ToolResult one = (await GrantAsync("orders.eu")).Succeeded();
        await File.WriteAllTextAsync(files[1], "", Cancelled);
        ToolResult several = await GrantAsync("orders.eu", "orders.us");

        Assert.Equal(
            "lightq: orders.eu is also the name of a file here. Where the shell has put that in the place of a name "
                + "with '*', say it again in quotes, as in 'orders.*'.\n",
            one.Errors
        );
        several.FailedWith(
            2,
            "'orders.us' is one word more than 'lightq grant add' takes. It is the name of a file here: if the shell "
                + "has put it in the place of a name with '*', put that in quotes, as in 'orders.*'."
        );

        Task<ToolResult> GrantAsync(params string[] topics) =>
            LightQTool.RunInAsync(directory.Path, url, ["grant", "add", "ann", "publish", .. topics]);
    }

    private static Task<ToolResult> RunAsync(TestServer server, params string[] arguments) =>
        LightQTool.RunAsync(server.ConnectionString, arguments);

    private static async Task FillAsync(TestServer server, LightQClient client)
    {
        await server.CreateTopicAsync("t", Broker.Topics.TopicKind.Durable);
        await using (Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled))
        {
            await producer.PublishAsync("one"u8, cancellationToken: Cancelled);
            await producer.PublishAsync("two"u8, cancellationToken: Cancelled);
        }
        (await RunAsync(server, "sub", "t", "--group", "g", "--count", "1")).Succeeded();
    }
}

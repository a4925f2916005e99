using System.Diagnostics;
using System.Text.Json;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>The two ends of the reference documents' test, in processes of their own, whoever starts first.</summary>
public sealed class TransferTests
{
    [Theory]
    [Trait("Plain", "no")]
    [InlineData("queue", true)]
    [InlineData("queue", false)]
    [InlineData("file", true)]
    [InlineData("file", false)]
    [Trait("Tier", "C")]
    public Task Producer_and_consumer_start_in_any_order(string storage, bool consumerFirst)
    {
        FaultRun.RequireTier("Each order takes some seconds.");
        return TransfersAsync(storage, consumerFirst);
    }

    private static async Task TransfersAsync(string storage, bool consumerFirst)
    {
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);
        Assert.Equal(
            "topic test created successfully\n",
            (await LightQTool.RunAsync(server.Url, "topic", "create", "-n", "2", "-s", storage)).Succeeded().Text
        );

        string[] consumer = ["consumer", "-m", "20000", "-n", "2", "-c", "socket"],
            producer = ["producer", "-m", "20000", "-n", "2", "-s", "256"];
        using Process first = LightQTool.Start(server.Url, consumerFirst ? consumer : producer);
        await UnderWayAsync(server, first, consumerFirst, storage);
        ToolResult second = (await LightQTool.RunAsync(server.Url, consumerFirst ? producer : consumer)).Succeeded();
        string firstText = await first.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await LightQTool.EndAsync(first);

        Assert.Equal(0, first.ExitCode);
        (string produced, string consumed) = consumerFirst ? (second.Text, firstText) : (firstText, second.Text);
        foreach (string topic in new[] { "test_1", "test_2" })
        {
            Assert.Contains($"Topic[{topic}], Total message sent [20000] in ", produced, StringComparison.Ordinal);
            Assert.Contains($"Topic[{topic}], Total bytes received [5120000], ", consumed, StringComparison.Ordinal);
            Assert.Contains(
                $"Topic[{topic}], Exact: lost [0], repeated [0], reordered [0], damaged [0]",
                consumed,
                StringComparison.Ordinal
            );
        }
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_next_consumer_of_a_durable_topic_gets_the_next_run()
    {
        FaultRun.RequireTier("It starts five processes.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);
        (await LightQTool.RunAsync(server.Url, "topic", "create", "-n", "1", "-s", "file", "orders")).Succeeded();
        foreach (int size in new[] { 100, 300 })
        {
            (
                await LightQTool.RunAsync(
                    server.Url,
                    "producer",
                    "-m",
                    "1000",
                    "-s",
                    $"{size}",
                    "--style",
                    "myq",
                    "orders"
                )
            ).Succeeded();
            JsonElement result = JsonDocument
                .Parse(
                    (await LightQTool.RunAsync(server.Url, "consumer", "-m", "1000", "--output", "json", "orders"))
                        .Succeeded()
                        .Text
                )
                .RootElement[0];
            Assert.Equal(
                ("orders_1", 1000 * size, 0),
                (
                    result.GetProperty("topic").GetString(),
                    result.GetProperty("bytes").GetInt32(),
                    result.GetProperty("skipped").GetInt32()
                )
            );
            Assert.True(result.GetProperty("latency_us").GetProperty("p50").GetDouble() > 0);
        }
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_broker_that_dies_ends_both_with_an_error()
    {
        FaultRun.RequireTier("It starts four processes and kills one.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);
        (await LightQTool.RunAsync(server.Url, "topic", "create", "-n", "1")).Succeeded();
        using Process consumer = LightQTool.Start(server.Url, "consumer", "-m", "1000000000");
        using Process producer = LightQTool.Start(server.Url, "producer", "-m", "1000000000", "-s", "100");
        await Eventually.TrueAsync(
            async () => await CountAsync(server, "messages_sent") > 100_000,
            TimeSpan.FromSeconds(60),
            () => "No message reaches the consumer."
        );
        server.Process.Kill();

        foreach (Process process in new[] { consumer, producer })
        {
            string errors = await process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
            await LightQTool.EndAsync(process);
            Assert.NotEqual(0, process.ExitCode);
            Assert.StartsWith("lightq: ", errors.TrimEnd().Split('\n')[^1], StringComparison.Ordinal);
            Assert.Empty(await process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken));
        }
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_topic_that_is_not_there_fails_both()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);

        (await LightQTool.RunAsync(server.Url, "producer", "-m", "1")).FailedWith(1, "test_1");
        (await LightQTool.RunAsync(server.Url, "consumer", "-m", "1")).FailedWith(1, "test_1");
    }

    /// <summary>Waits until the end that was started first has done all that it can do alone.</summary>
    private static Task UnderWayAsync(ToolServer server, Process first, bool isConsumer, string storage) =>
        (isConsumer, storage) switch
        {
            (true, _) => Eventually.TrueAsync(
                async () => await CountAsync(server, "subscribers_count") == 1,
                TimeSpan.FromSeconds(60),
                () => "The consumer does not subscribe."
            ),
            (false, "file") => LightQTool.EndAsync(first),
            _ => first.StandardError.ReadLineAsync(TestContext.Current.CancellationToken).AsTask(),
        };

    private static async Task<long> CountAsync(ToolServer server, string figure) =>
        JsonDocument
            .Parse((await LightQTool.RunAsync(server.Url, "stats", "test_1", "--output", "json")).Succeeded().Text)
            .RootElement.GetProperty(figure)
            .GetInt64();
}

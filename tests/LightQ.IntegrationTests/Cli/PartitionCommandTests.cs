using System.Text.Json;
using LightQ.Cli.Output;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>The tool with a topic of several partitions, and with one of them.</summary>
public sealed class PartitionCommandTests
{
    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Every_command_takes_a_topic_or_one_of_its_partitions()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var directory = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync(directory.Path);
        string url = server.ConnectionString;
        (await LightQTool.RunAsync(url, "topic", "create", "t", "--kind", "durable", "--partitions", "4")).Succeeded();
        (await LightQTool.RunAsync(url, [.. "a\nb\n"u8], "pub", "t", "-", "--key", "42")).Succeeded();
        (await LightQTool.RunAsync(url, "pub", "t/1", "c", "--key", "42")).Succeeded();

        ToolResult all = (
            await LightQTool.RunAsync(url, "sub", "t", "--from", "earliest", "--count", "3", "--format", "json")
        ).Succeeded();
        JsonElement[] messages =
        [
            .. all.Text.TrimEnd().Split('\n').Select(line => JsonDocument.Parse(line).RootElement),
        ];
        Assert.Equal(
            ["1/0 c", "3/0 a", "3/1 b"],
            messages
                .Select(m =>
                    $"{m.GetProperty("partition")}/{m.GetProperty("offset")} {m.GetProperty("body").GetString()}"
                )
                .Order(StringComparer.Ordinal)
        );
        Assert.Equal(
            "b\n",
            (await LightQTool.RunAsync(url, "sub", "t/3", "--from", "1", "--count", "1")).Succeeded().Text
        );
        ToolResult start = await LightQTool.RunAsync(url, "sub", "t", "--from", "1", "--count", "1");
        Assert.Equal(ExitCode.Usage, start.ExitCode);
        Assert.Contains("as in 't/0'", start.Errors, StringComparison.Ordinal);

        Assert.Equal(
            "2",
            Offsets((await LightQTool.RunAsync(url, "topic", "show", "t/3", "--output", "json")).Succeeded())
        );
        Assert.Equal(
            "0 1 0 2",
            Offsets((await LightQTool.RunAsync(url, "topic", "show", "t", "--output", "json")).Succeeded())
        );
        ToolResult none = await LightQTool.RunAsync(url, "topic", "show", "t/4");
        Assert.Equal(
            (ExitCode.Failed, "lightq: t has no partition 4; allowed: 0 to 3.\n"),
            (none.ExitCode, none.Errors)
        );
        JsonElement stats = JsonDocument
            .Parse((await LightQTool.RunAsync(url, "stats", "t/3", "--output", "json")).Succeeded().Output)
            .RootElement;
        Assert.Equal((3, 2), (stats.GetProperty("partition").GetInt32(), stats.GetProperty("end_offset").GetInt32()));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Truncating_takes_all_partitions_or_an_offset_of_one()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var directory = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync(directory.Path);
        string url = server.ConnectionString;
        (await LightQTool.RunAsync(url, "topic", "create", "t", "--kind", "durable", "--partitions", "2")).Succeeded();
        foreach (string partition in new[] { "t/0", "t/1", "t/1" })
            (await LightQTool.RunAsync(url, "pub", partition, "x")).Succeeded();

        ToolResult refused = await LightQTool.RunAsync(url, "topic", "truncate", "t", "--before", "1");
        Assert.Equal(ExitCode.Usage, refused.ExitCode);
        Assert.Contains("name one, as in t/0", refused.Errors, StringComparison.Ordinal);
        Assert.Equal(
            "t/1 now begins at offset 1.\n",
            (await LightQTool.RunAsync(url, "topic", "truncate", "t/1", "--before", "1", "--yes")).Succeeded().Text
        );
        Assert.Equal(
            "t/0 now begins at offset 1.\nt/1 now begins at offset 2.\n",
            (await LightQTool.RunAsync(url, "topic", "truncate", "t", "--all", "--yes")).Succeeded().Text
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_journals_of_all_partitions_are_verified_and_dumped()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var directory = new TemporaryDirectory();
        await using (TestServer server = await TestServer.StartAsync(directory.Path))
        {
            (
                await LightQTool.RunAsync(
                    server.ConnectionString,
                    "topic",
                    "create",
                    "t",
                    "--kind",
                    "durable",
                    "--partitions",
                    "3"
                )
            ).Succeeded();
            (await LightQTool.RunAsync(server.ConnectionString, "pub", "t/2", "kept")).Succeeded();
        }
        JsonElement verified = JsonDocument
            .Parse(
                (await LightQTool.RunAsync(null, "journal", "verify", directory.Path, "--output", "json"))
                    .Succeeded()
                    .Output
            )
            .RootElement;
        JsonElement[] journals =
        [
            .. verified.GetProperty("journals").EnumerateArray().Where(j => j.TryGetProperty("partition", out _)),
        ];
        Assert.Equal(
            [(0, 0), (1, 0), (2, 1)],
            journals.Select(j => (j.GetProperty("partition").GetInt32(), j.GetProperty("messages").GetInt32()))
        );
        ToolResult dumped = (
            await LightQTool.RunAsync(null, "journal", "dump", directory.Path, "--records")
        ).Succeeded();
        Assert.Contains("t, partition 2:", dumped.Text, StringComparison.Ordinal);
        Assert.Contains("kept", dumped.Text, StringComparison.Ordinal);

        Directory.Delete(
            Directory.GetDirectories(Path.Combine(directory.Path, "topics")).Select(t => Path.Combine(t, "1")).Single(),
            recursive: true
        );
        ToolResult damaged = await LightQTool.RunAsync(null, "journal", "verify", directory.Path, "--output", "json");
        Assert.Equal(ExitCode.Failed, damaged.ExitCode);
        Assert.Equal(
            ["t/1"],
            JsonDocument
                .Parse(damaged.Output)
                .RootElement.GetProperty("missing_topics")
                .EnumerateArray()
                .Select(t => t.GetString())
        );
    }

    private static string Offsets(ToolResult topic) =>
        string.Join(
            ' ',
            JsonDocument
                .Parse(topic.Output)
                .RootElement.GetProperty("end_offsets")
                .EnumerateArray()
                .Select(o => o.GetInt64())
        );
}

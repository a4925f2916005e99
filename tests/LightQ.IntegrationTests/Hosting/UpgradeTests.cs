using System.Formats.Tar;
using System.Globalization;
using System.IO.Compression;
using LightQ.IntegrationTests.Cli;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>
/// A data directory that a broker with files of version 1 has left when it was killed: the topics <c>orders</c> (two
/// partitions, 40 messages with key a, 40 with key c, those by the producer <c>shop</c>) and <c>jobs</c> (40 messages
/// by <c>shop</c>, one that is delayed and long due, and the group <c>workers</c>, which has settled ten).
/// </summary>
public sealed class UpgradeTests
{
    private static readonly IEnumerable<string> Lines = Enumerable.Range(1, 40).Select(i => $"order {i}");

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Files_of_version_1_are_read_and_the_next_message_begins_one_of_version_2()
    {
        using var folder = new TemporaryDirectory();
        using (Stream packed = typeof(UpgradeTests).Assembly.GetManifestResourceStream("version-1.tar.gz")!)
        await using (var files = new GZipStream(packed, CompressionMode.Decompress))
            await TarFile.ExtractToDirectoryAsync(files, folder.Path, overwriteFiles: false, Cancelled);
        Assert.All(Segments(folder.Path), segment => Assert.Equal(1, VersionOf(segment)));

        await using TestServer server = await TestServer.StartAsync(folder.Path);
        Assert.Equal("ready\n", await server.Web.GetStringAsync("/healthz/ready", Cancelled));
        string[] orders = await ReadAsync(server, "orders", 80);
        Assert.Equal(Lines.Concat(Lines).Order(), orders.Order());
        string[] jobs = await ReadAsync(server, "jobs", 31, "--group", "workers", "--max-in-flight", "1");
        Assert.Equal(Lines.Skip(10).Append("later"), jobs);
        (await LightQTool.RunAsync(server.ConnectionString, "pub", "orders", "order 41", "--key", "a")).Succeeded();
        (
            await LightQTool.RunAsync(server.ConnectionString, "pub", "jobs", "order 41", "--producer-name", "shop")
        ).Succeeded();
        for (int i = 0; i < FaultRun.Times(plain: 1, c: 2, n: 2); i++)
        {
            await server.RestartAsync();
            jobs = await ReadAsync(server, "jobs", 42);
            Assert.Equal([.. Lines, "later", "order 41"], jobs);
            Assert.Equal(81, (await ReadAsync(server, "orders", 81)).Length);
        }
        jobs = await ReadAsync(server, "jobs", 1, "--group", "workers", "--max-in-flight", "1");
        Assert.Equal(["order 41"], jobs);
        Assert.Contains(Segments(folder.Path), segment => VersionOf(segment) == 2);
        await server.RestartAsync(() =>
            LightQTool.RunAsync(null, "journal", "verify", folder.Path).GetAwaiter().GetResult().Succeeded()
        );
    }

    /// <summary>So many messages, in the order in which they came; what a group has got is settled.</summary>
    private static async Task<string[]> ReadAsync(TestServer server, string topic, int count, params string[] options)
    {
        string[] start = options.Length == 0 ? ["--from", "earliest"] : [];
        ToolResult result = await LightQTool.RunAsync(
            server.ConnectionString,
            [
                "sub",
                topic,
                .. start,
                "--count",
                count.ToString(CultureInfo.InvariantCulture),
                "--format",
                "raw",
                .. options,
            ]
        );
        string[] lines = result.Succeeded().Text.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        return lines;
    }

    private static string[] Segments(string directory) =>
        Directory.GetFiles(directory, "*.seg", SearchOption.AllDirectories);

    private static int VersionOf(string segment)
    {
        using FileStream file = new(segment, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        byte[] start = new byte[12];
        file.ReadExactly(start);
        return BitConverter.ToInt32(start, 8);
    }
}

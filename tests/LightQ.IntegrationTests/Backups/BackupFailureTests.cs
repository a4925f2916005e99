using System.Diagnostics;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Faults;
using LightQ.Storage.Backups;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Backups;

/// <summary>What goes wrong with a backup says so in one line, and never looks like a backup.</summary>
[Trait("Tier", "C")]
public sealed class BackupFailureTests
{
    private const int Failed = 1,
        Unavailable = 69;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_backup_that_is_killed_is_incomplete_and_the_broker_goes_on()
    {
        FaultRun.RequireTier("It runs and kills processes.");
        using var directory = new TemporaryDirectory();
        await using TestServer server = await StartAsync(megabytes: 4);
        using (
            Process backup = LightQTool.Start(server.ConnectionString, "backup", directory.File("b"), "--rate", "1MiB")
        )
        {
            await Eventually.TrueAsync(
                () =>
                    Directory.Exists(directory.File("b"))
                    && Directory.GetFiles(directory.File("b"), "*.seg", SearchOption.AllDirectories).Length > 0,
                Patience,
                () => "It has not begun."
            );
            backup.Kill();
            await backup.WaitForExitAsync(Cancelled);
        }
        (await LightQTool.RunAsync(null, "backup", "verify", directory.File("b"))).FailedWith(
            Failed,
            "holds no complete backup"
        );
        (await LightQTool.RunAsync(null, "restore", directory.File("b"), "--data", directory.File("d"))).FailedWith(
            Failed,
            "holds no complete backup"
        );
        (await LightQTool.RunAsync(server.ConnectionString, "backup", directory.File("b"))).FailedWith(
            Failed,
            "is not empty, or holds a backup that was not finished"
        );
        Assert.False(Directory.Exists(directory.File("d")));
        Assert.Contains(
            "2 topics",
            (await LightQTool.RunAsync(server.ConnectionString, "backup", directory.File("b2"))).Succeeded().Text,
            StringComparison.Ordinal
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_full_disk_a_wrong_address_and_a_damaged_broker_are_said_in_one_line()
    {
        using LoopFileSystem disk = LoopFileSystem.Create("ext4", 8);
        using var directory = new TemporaryDirectory();
        await using TestServer server = await StartAsync(megabytes: 12);
        string target = Path.Combine(disk.Path, "b");
        ToolResult full = await LightQTool.RunAsync(server.ConnectionString, "backup", target);
        full.FailedLastWith(Failed);
        Assert.Contains($"The disk of '{target}' is full", full.Errors, StringComparison.Ordinal);
        Assert.Throws<BackupException>(() => BackupVerification.Verify(target, cancellationToken: Cancelled));

        (await LightQTool.RunAsync(server.ConnectionString, "backup", directory.File("b"))).Succeeded();
        ToolResult noRoom = await LightQTool.RunAsync(
            null,
            "restore",
            directory.File("b"),
            "--data",
            Path.Combine(disk.Path, "d")
        );
        noRoom.FailedLastWith(Failed);
        Assert.Contains("is full: the backup has", noRoom.Errors, StringComparison.Ordinal);
        (
            await LightQTool.RunAsync(
                null,
                "server",
                "--data",
                Path.Combine(disk.Path, "d"),
                "--data-port",
                "0",
                "--control-port",
                "0",
                "--web-port",
                "0"
            )
        ).FailedWith(Unavailable, "not restored to its end");

        (
            await LightQTool.RunAsync("lightq://127.0.0.1:1?control=1", "backup", directory.File("nobody"))
        ).FailedLastWith(Unavailable);
        Assert.False(Directory.Exists(directory.File("nobody")));

        string segment = Directory
            .GetFiles(
                Path.Combine(server.Directory, "topics", server.Broker.GetTopic("t0").Id.ToString("N")),
                "*.seg",
                SearchOption.AllDirectories
            )
            .Order()
            .First();
        using (FileStream file = File.OpenWrite(segment))
        {
            file.Position = 8000;
            file.Write([1, 2, 3]); // The bodies are zeros.
        }
        ToolResult damaged = await LightQTool.RunAsync(server.ConnectionString, "backup", directory.File("damaged"));
        damaged.FailedLastWith(Failed);
        Assert.Contains("What the broker stores is damaged", damaged.Errors, StringComparison.Ordinal);
        Assert.Contains("topic t0: ", damaged.Errors, StringComparison.Ordinal);
        ToolResult kept = (
            await LightQTool.RunAsync(server.ConnectionString, "backup", directory.File("kept"), "--allow-damaged")
        ).Succeeded();
        Assert.Contains("damaged on the broker", kept.Text, StringComparison.Ordinal);
        (await LightQTool.RunAsync(null, "backup", "verify", directory.File("kept"))).Succeeded();
    }

    private static async Task<TestServer> StartAsync(int megabytes)
    {
        TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t0", TopicKind.Durable);
        await server.CreateTopicAsync("t1", TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("t0", cancellationToken: Cancelled);
        byte[] body = new byte[64 * 1024];
        await Task.WhenAll(
            Enumerable
                .Range(0, megabytes * 16)
                .Select(_ => producer.PublishAsync(body, cancellationToken: Cancelled).AsTask())
        );
        return server;
    }
}

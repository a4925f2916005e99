using System.Text.Json;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Cli.Backups;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.ClusterTests.Members;
using LightQ.IntegrationTests;
using LightQ.IntegrationTests.Cli;
using LightQ.Protocol.Batches;
using LightQ.Server;
using LightQ.Storage.Backups;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.ClusterTests.Backups;

/// <summary>Backups of topics with replicas, taken at any node.</summary>
public sealed class ClusterBackupTests : IAsyncLifetime
{
    private const int Messages = 400,
        Taken = 240;

    private readonly TemporaryDirectory _directory = new();
    private ForwardingCluster _cluster = null!;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync() => _cluster = await ForwardingCluster.StartAsync();

    public async ValueTask DisposeAsync()
    {
        await _cluster.DisposeAsync();
        _directory.Dispose();
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_backup_of_any_node_has_every_replicated_topic_with_the_positions_of_its_groups()
    {
        FaultRun.RequireTier("It takes ten seconds.");
        await _cluster.SpreadAsync("orders");
        await _cluster.CreateAsync("local", new() { Kind = TopicKind.Durable });
        await using LightQClient client = TopicContents.Connect(_cluster.A);
        await TopicContents.PublishAsync(client, "orders", 0, Messages);
        List<int> taken = await TopicContents.WorkAsync(client, "orders", Taken);
        await TopicContents.StoreAsync("orders", _cluster.A, _cluster.B);
        SortedDictionary<(int, long), string> before = await TopicContents.ReadAsync(client, "orders", Messages);

        foreach (LightQServer node in new[] { _cluster.A, _cluster.B })
        {
            string name = node == _cluster.A ? "a" : "b";
            BackupManifest manifest = await BackUpAsync(node, $"backup {name}");
            BackupTopic orders = manifest.Topics.Single(t => t.Name == "orders");
            Assert.Equal((4, true, 3), (orders.Partitions, orders.Durable, orders.Replicas));
            Assert.Equal(node == _cluster.A, manifest.Topics.Any(t => t.Name == "local"));
            Assert.False(Directory.EnumerateFileSystemEntries(AsideOf(name)).Any());

            BackupRestore.Run(
                _directory.File($"backup {name}"),
                _directory.File($"data {name}"),
                cancellationToken: Cancelled
            );
            await using LightQServer restored = await StartAsync($"data {name}");
            await using LightQClient reader = TopicContents.Connect(restored);
            Assert.Equal(before, await TopicContents.ReadAsync(reader, "orders", Messages));
            int[] open = [.. Enumerable.Range(0, Messages).Except(taken.Where(i => i % 2 == 0))];
            List<int> again = await TopicContents.WorkAsync(reader, "orders", open.Length);
            Assert.Equal(open, again.Order());
            // The producer goes on: nothing of it is taken for a duplicate, and nothing refused.
            await TopicContents.PublishAsync(reader, "orders", Messages, 50);
            await TopicContents.ReadAsync(reader, "orders", Messages + 50);
            Assert.Equal(0u, restored.Broker.GetTopic("orders").Settings.Replicas);
        }
    }

    [Fact]
    public async Task A_topic_whose_front_retention_has_removed_begins_in_the_backup_where_its_log_does()
    {
        await _cluster.CreateAsync("orders", new() { Kind = TopicKind.Durable, Replicas = 3 });
        await TopicContents.LedAsync("orders", _cluster.A, _cluster.B);
        await using LightQClient client = TopicContents.Connect(_cluster.A);
        await TopicContents.PublishAsync(client, "orders", 0, 100);
        // A handover writes a snapshot, and the log is trimmed behind two of them.
        await _cluster.LeadAsync("orders", 0, "b");
        await _cluster.LeadAsync("orders", 0, "a");
        long start = await PurgeAsync(0, 50);
        Assert.InRange(start, 1, 99);
        BackupManifest manifest = await BackUpAsync(_cluster.B, "backup");
        Assert.Empty(manifest.Damaged);
        BackupRestore.Run(_directory.File("backup"), _directory.File("data"), cancellationToken: Cancelled);
        await using LightQServer restored = await StartAsync("data");
        Partition partition = restored.Broker.GetTopic("orders").Partitions[0];
        Assert.Equal((start, 100L), (partition.Log.StartOffset, partition.Log.EndOffset));
        Assert.Single(partition.NamedProducers.Ids);
    }

    [Fact]
    public async Task A_backup_fails_and_says_why_when_the_log_has_lost_something()
    {
        await _cluster.CreateAsync("orders", new() { Kind = TopicKind.Durable, Replicas = 3 });
        await using (LightQClient client = TopicContents.Connect(_cluster.A))
            await TopicContents.PublishAsync(client, "orders", 0, 100);
        await PurgeAsync(0, 50); // There is no snapshot that it could have been removed behind.
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() => BackUpAsync(_cluster.A, "backup"));
        Assert.Equal(ErrorCode.Unavailable, refused.Code);
        Assert.Contains("'orders'", refused.Message, StringComparison.Ordinal);
        Assert.False(File.Exists(Path.Combine(_directory.File("backup"), BackupManifest.FileName)));

        var job = new BackupJob(_directory.File("without"), 0, allowDamaged: true, new CommandConsole());
        BackupView made = await job.RunAsync(LightQClientOptions.Parse(_cluster.A.ConnectionString), Cancelled);
        Assert.Equal(["orders"], made.SkippedTopics);
        Assert.Equal(0, made.Topics);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_directory_of_a_node_is_verified_offline_and_damage_in_a_copy_is_found()
    {
        FaultRun.RequireTier("It starts nodes and servers again and again.");
        Topic topic = await _cluster.CreateAsync("orders", new() { Kind = TopicKind.Durable, Replicas = 3 });
        await _cluster.CreateAsync("local", new() { Kind = TopicKind.Durable });
        await _cluster.LeadAsync("orders", 0, "a");
        await using (LightQClient client = TopicContents.Connect(_cluster.A))
        {
            await TopicContents.PublishAsync(client, "orders", 0, 100);
            await TopicContents.PublishAsync(client, "local", 0, 100);
        }
        string directory = _cluster.DirectoryOf("a");
        await _cluster.A.DisposeAsync();
        ToolResult clean = await LightQTool.RunAsync(null, "journal", "verify", directory, "--output", "json");
        clean.Succeeded();
        using JsonDocument view = JsonDocument.Parse(clean.Text);
        Assert.Equal("shop", view.RootElement.GetProperty("cluster").GetString());
        Assert.Equal("a", view.RootElement.GetProperty("node").GetString());
        JsonElement[] journals = [.. view.RootElement.GetProperty("journals").EnumerateArray()];
        Assert.Equal(3, Of("orders").GetProperty("replicas").GetInt32());
        Assert.Equal(100, Of("orders").GetProperty("end_offset").GetInt64());
        Assert.False(Of("local").TryGetProperty("replicas", out _));

        string segment = Directory.GetFiles(Path.Combine(directory, "topics", topic.Id.ToString("N"), "0"), "*.seg")[0];
        byte[] bytes = await File.ReadAllBytesAsync(segment, Cancelled);
        bytes[6_000] ^= 1;
        await File.WriteAllBytesAsync(segment, bytes, Cancelled);
        ToolResult damaged = await LightQTool.RunAsync(null, "journal", "verify", directory);
        Assert.Equal(1, damaged.ExitCode);
        Assert.Contains("This is the node a of the cluster shop.", damaged.Text, StringComparison.Ordinal);
        Assert.Contains("orders, in ", damaged.Text, StringComparison.Ordinal);

        JsonElement Of(string name) =>
            journals.Single(j => j.TryGetProperty("name", out JsonElement n) && n.GetString() == name);
    }

    private async Task<BackupManifest> BackUpAsync(LightQServer node, string folder)
    {
        var job = new BackupJob(_directory.File(folder), 0, allowDamaged: false, new CommandConsole());
        await job.RunAsync(LightQClientOptions.Parse(node.ConnectionString), Cancelled);
        return BackupVerification.Verify(_directory.File(folder), cancellationToken: Cancelled);
    }

    /// <summary>Removes the first entries of messages from a stream.</summary>
    /// <returns>The first offset that is left.</returns>
    private async Task<long> PurgeAsync(uint partition, int entries)
    {
        FaultyStream stream = _cluster.StreamOf(_cluster.A.Broker.GetTopic("orders").Id, partition);
        StreamEntry first = stream.Entries.Where(e => e.Kind == EntryKind.Data).ElementAt(entries);
        await stream.Connect().PurgeAsync(EntryKind.Data, first.Sequence, Cancelled);
        return new BatchView(first.Payload.Span).BaseOffset;
    }

    private string AsideOf(string node) => Path.Combine(_cluster.DirectoryOf(node), "backup");

    private Task<LightQServer> StartAsync(string directory) =>
        LightQServer.StartAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = _directory.File(directory),
            },
            cancellationToken: Cancelled
        );
}

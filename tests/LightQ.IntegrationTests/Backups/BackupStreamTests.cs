using LightQ.Client;
using LightQ.Client.Administration;
using Xunit;

namespace LightQ.IntegrationTests.Backups;

/// <summary>A backup as a program gets it from the SDK.</summary>
public sealed class BackupStreamTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_parts_come_in_their_order_and_each_file_as_long_as_was_said()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, Partitions = 2 },
            Cancelled
        );
        await client.Topics.CreateAsync(new TopicSpec("prices") { Kind = TopicKind.Transient }, Cancelled);
        await client.PublishAsync("orders", "hello"u8, cancellationToken: Cancelled);

        List<BackupPart> parts = [];
        await foreach (BackupPart part in client.Operations.BackupAsync(cancellationToken: Cancelled))
            parts.Add(part);

        var begin = Assert.IsType<BackupBegin>(parts[0]);
        Assert.Equal(server.Broker.Id.ToString("N"), begin.BrokerId);
        var end = Assert.IsType<BackupEnd>(parts[^1]);
        Assert.Equal(
            [("orders", 2, true), ("prices", 1, false)],
            end.Topics.Select(t => (t.Name, t.Partitions, t.IsDurable))
        );
        Assert.Empty(end.SkippedTopics);
        var files = new Dictionary<string, (long Said, long Sent)>();
        string file = "";
        foreach (BackupPart part in parts[1..^1])
        {
            if (part is BackupFileBegin next)
                files.Add(file = next.Path, (next.Length, 0));
            else
                files[file] = (files[file].Said, files[file].Sent + Assert.IsType<BackupData>(part).Bytes.Length);
        }
        Assert.Contains(files.Keys, f => f.StartsWith("topics/", StringComparison.Ordinal));
        Assert.All(files, f => Assert.Equal(f.Value.Said, f.Value.Sent));
    }

    [Fact]
    public async Task A_rate_below_zero_is_refused()
    {
        await using var client = new LightQClient("lightq://localhost");
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () =>
            await client
                .Operations.BackupAsync(-1, cancellationToken: Cancelled)
                .GetAsyncEnumerator(Cancelled)
                .MoveNextAsync()
        );
    }
}

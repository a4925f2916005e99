using LightQ.Broker;
using LightQ.Client;
using LightQ.Storage;
using LightQ.Storage.Files;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Faults;

/// <summary>D8: two brokers, one directory.</summary>
public sealed class SecondBrokerTests
{
    [Fact]
    [Trait("Fault", "D8")]
    public async Task A_second_broker_is_refused_and_changes_nothing()
    {
        await using TestServer server = await TestServer.StartAsync(options =>
            options with
            {
                Broker = options.Broker with { CheckpointInterval = TimeSpan.FromHours(1) },
            }
        );
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync(
            "orders",
            cancellationToken: TestContext.Current.CancellationToken
        );
        await producer.PublishAsync("first"u8.ToArray(), cancellationToken: TestContext.Current.CancellationToken);
        await Eventually.TrueAsync(
            () => Directory.GetFiles(server.Directory, "*.producers", SearchOption.AllDirectories).Length == 1,
            TimeSpan.FromSeconds(30),
            () => "The new segment's snapshot of producers was never written."
        );
        string[] before = Content(server.Directory);
        DataDirectoryException error = await Assert.ThrowsAsync<DataDirectoryException>(() =>
            LightQBroker.OpenAsync(server.Directory, new BrokerOptions(), TimeProvider.System)
        );
        Assert.Contains("another broker", error.Message, StringComparison.Ordinal);
        Assert.Equal(before, Content(server.Directory));
        await producer.PublishAsync("second"u8.ToArray(), cancellationToken: TestContext.Current.CancellationToken);
    }

    private static string[] Content(string directory) =>
        [
            .. Directory
                .EnumerateFiles(directory, "*", SearchOption.AllDirectories)
                .Where(path => Path.GetFileName(path) != DataDirectoryLock.FileName) // Cannot be read while it is held.
                .Order()
                .Select(path =>
                    $"{path}: "
                    + $"{Convert.ToHexString(System.Security.Cryptography.SHA256.HashData(File.ReadAllBytes(path)))}"
                ),
        ];
}

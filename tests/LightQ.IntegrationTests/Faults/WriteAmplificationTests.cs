using System.Globalization;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>What reaches the device for each byte that is published, when segments are used again.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "write-amplification")]
[Trait("Tier", "C")]
public sealed class WriteAmplificationTests
{
    // With the headers of its batch and its record: a commit of 16 KiB.
    private const int MessageBytes = (16 * 1024) - BatchLayout.HeaderSize - RecordLayout.FixedSize;
    private const int SegmentBytes = 8 * 1024 * 1024;
    private const int RetentionBytes = 24 * 1024 * 1024;
    private const int SectorBytes = 512;
    private const int SectorsWritten = 6;
    private const double Limit = 1.3;

    [Fact]
    [Trait("Plain", "no")]
    public async Task Commits_of_16_KiB_cost_the_device_little_more_than_their_bytes()
    {
        int messages = FaultRun.Times(c: 8_000, n: 40_000);
        using LoopFileSystem disk = LoopFileSystem.Create("ext4", 512);
        var run = new FaultRun(
            "write-amplification",
            "sectors a device writes for commits of 16 KiB, segments used again"
        );
        await using TestServer server = await TestServer.StartAsync(directory: Path.Combine(disk.Path, "data"));
        await using var client = new LightQClient(server.ConnectionString);
        var spec = new TopicSpec("t")
        {
            Kind = TopicKind.Durable,
            SegmentBytes = SegmentBytes,
            RetentionBytes = RetentionBytes,
        };
        await client.Topics.CreateAsync(spec, TestContext.Current.CancellationToken);
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );
        byte[] body = new byte[MessageBytes];
        run.RandomFor(0).NextBytes(body);

        // Until the first files have grown to full size, expired and been used again.
        await PublishAsync(producer, body, 2 * RetentionBytes / MessageBytes);
        long before = SectorsOf(disk.Device);
        await PublishAsync(producer, body, messages);
        LoopFileSystem.Run("sync", ["-f", disk.Path]);
        double ratio = (double)(SectorsOf(disk.Device) - before) * SectorBytes / ((long)messages * MessageBytes);

        run.Count("commits", messages);
        run.Figure("written to the device, % of the payload", (long)Math.Round(100 * ratio));
        run.Report();
        // A short run pays for a whole segment, or for none.
        Assert.True(ratio <= Limit, $"{ratio:F2} bytes were written for each byte published.");
        Assert.True(ratio >= 1, $"{ratio:F2} bytes were written for each byte published: they were not measured.");
    }

    private static async Task PublishAsync(Producer producer, byte[] body, int count)
    {
        for (int i = 0; i < count; i++)
        {
            PublishAck ack = await producer.PublishAsync(
                body,
                cancellationToken: TestContext.Current.CancellationToken
            );
            Assert.Equal(Durability.Fsync, ack.Durability);
        }
    }

    private static long SectorsOf(string device) =>
        long.Parse(
            File.ReadAllText($"/sys/block/{device}/stat").Split(' ', StringSplitOptions.RemoveEmptyEntries)[
                SectorsWritten
            ],
            CultureInfo.InvariantCulture
        );
}

using System.Diagnostics;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// D5: the disk fills up, again and again. Publishing is refused early and comes back; everything else goes on.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D5")]
[Trait("Tier", "C")]
public sealed class DiskFullTests
{
    private const int Megabytes = 64;
    private const int SegmentBytes = 288 * 1024;
    private static readonly TimeSpan ResumeLimit = TimeSpan.FromSeconds(50);
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_full_disk_refuses_publishes_early_and_takes_them_again_when_space_returns()
    {
        using LoopFileSystem disk = LoopFileSystem.Create("ext4", Megabytes);
        var run = new FaultRun("D5.full", "a disk of 64 MiB filled and freed under load");
        await using var broker = new FaultBroker(Path.Combine(disk.Path, "data"));
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        var topic = new FaultTopic(
            new TopicSpec("t")
            {
                Kind = TopicKind.Durable,
                MaxMessageBytes = 8 * 1024,
                SegmentBytes = SegmentBytes,
                RetentionBytes = 1 << 30,
            }
        );
        await client.Topics.CreateAsync(topic.Spec, TestContext.Current.CancellationToken);
        int rounds = FaultRun.Times(c: 12, n: 200);
        var slowest = TimeSpan.Zero;
        for (int round = 0; round < rounds; round++)
        {
            Random random = run.RandomFor(round);
            using (var filler = new Filler(disk.Path))
            {
                filler.LeaveOnly(random.Next(2, 6) << 20);
                run.Count("published before it was full", await PublishUntilFullAsync(client, topic.Ledger, random));
                Assert.True(
                    new DriveInfo(disk.Path).AvailableFreeSpace >= SegmentBytes,
                    "The reserve was used up before a publish was refused."
                );
                if (round % 4 == 3)
                    filler.LeaveOnly(0); // Somebody else takes the reserve, too.
                await topic.VerifyAsync(client, Durability.Fsync);
                await client.Topics.TruncateAsync(
                    "t",
                    topic.EndOffset,
                    cancellationToken: TestContext.Current.CancellationToken
                );
            }
            slowest = TimeSpan.FromTicks(
                Math.Max(slowest.Ticks, (await ResumeAsync(client, topic.Ledger, random)).Ticks)
            );
            run.Count("rounds");
        }
        await topic.VerifyAsync(client, Durability.Fsync);

        run.Count("read back", topic.Verified);
        run.Count("violations", topic.Ledger.Violations.Count);
        run.Figure("resumed at the latest after ms", (long)slowest.TotalMilliseconds);
        run.Report();
        Assert.True(
            topic.Ledger.Violations.Count == 0,
            $"LIGHTQ_SEED={run.Seed}:\n{string.Join('\n', topic.Ledger.Violations.Take(40))}"
        );
        Assert.True(slowest <= ResumeLimit, $"resumed after {slowest}; the target is 5 s.");
    }

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_broker_that_starts_on_a_full_disk_serves_readers_and_takes_messages_when_space_returns()
    {
        using LoopFileSystem disk = LoopFileSystem.Create("ext4", Megabytes);
        var run = new FaultRun("D5.start", "kill -9, the disk full to its last block, and a start on it");
        await using var broker = new FaultBroker(Path.Combine(disk.Path, "data"));
        await broker.StartAsync();
        var topic = new FaultTopic(
            new TopicSpec("t")
            {
                Kind = TopicKind.Durable,
                MaxMessageBytes = 8 * 1024,
                SegmentBytes = SegmentBytes,
                RetentionBytes = 1 << 30,
            }
        );
        Random random = run.RandomFor(0);
        await using (LightQClient client = broker.Connect())
        {
            await client.Topics.CreateAsync(topic.Spec, TestContext.Current.CancellationToken);
            for (int i = 0; i < 20; i++)
                await ResumeAsync(client, topic.Ledger, random);
        }
        await broker.KillAsync();
        using (var filler = new Filler(disk.Path))
        {
            filler.LeaveOnly(0);
            await broker.StartAsync();
            await using LightQClient full = broker.Connect();
            await topic.VerifyAsync(full, Durability.Fsync);
            run.Count("published on a full disk", await PublishUntilFullAsync(full, topic.Ledger, random));
            Assert.Empty((await full.Topics.GetAsync("t", TestContext.Current.CancellationToken)).Failure);
        }
        await using (LightQClient client = broker.Connect())
        {
            run.Figure("resumed after ms", (long)(await ResumeAsync(client, topic.Ledger, random)).TotalMilliseconds);
            await topic.VerifyAsync(client, Durability.Fsync);
        }
        run.Count("read back", topic.Verified);
        run.Count("violations", topic.Ledger.Violations.Count);
        run.Report();
        Assert.True(
            topic.Ledger.Violations.Count == 0,
            $"LIGHTQ_SEED={run.Seed}:\n{string.Join('\n', topic.Ledger.Violations.Take(40))}"
        );
    }

    /// <summary>Publishes until the broker refuses for want of space.</summary>
    /// <returns>How many it took.</returns>
    private static async Task<int> PublishUntilFullAsync(LightQClient client, PublishLedger ledger, Random random)
    {
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );
        for (int taken = 0; ; taken++)
        {
            (SentMessage message, byte[] body) = ledger.Create(0, random, 6_000);
            try
            {
                PublishAck ack = await producer
                    .PublishAsync(body, cancellationToken: TestContext.Current.CancellationToken)
                    .AsTask()
                    .WaitAsync(Patience);
                message.Acknowledge(ack.Offset, ack.Durability);
            }
            catch (LightQException e)
            {
                Assert.Equal(ErrorCode.DiskFull, e.Code);
                return taken;
            }
        }
    }

    /// <summary>Publishes one message as soon as that is possible again.</summary>
    private static async Task<TimeSpan> ResumeAsync(LightQClient client, PublishLedger ledger, Random random)
    {
        var watch = Stopwatch.StartNew();
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );
        while (true)
        {
            (SentMessage message, byte[] body) = ledger.Create(0, random, 100);
            try
            {
                PublishAck ack = await producer
                    .PublishAsync(body, cancellationToken: TestContext.Current.CancellationToken)
                    .AsTask()
                    .WaitAsync(Patience);
                message.Acknowledge(ack.Offset, ack.Durability);
                return watch.Elapsed;
            }
            catch (LightQException e) when (e.Code == ErrorCode.DiskFull && watch.Elapsed < ResumeLimit)
            {
                await Task.Delay(10, TestContext.Current.CancellationToken);
            }
        }
    }

    /// <summary>A file that takes the space.</summary>
    private sealed class Filler(string directory) : IDisposable
    {
        private readonly string _path = Path.Combine(directory, "filler");

        public void LeaveOnly(long bytes)
        {
            using var file = new FileStream(_path, FileMode.Append, FileAccess.Write, FileShare.None, bufferSize: 0);
            byte[] block = new byte[64 * 1024];
            while (bytes > 0 && new DriveInfo(directory).AvailableFreeSpace > bytes)
                file.Write(block);
            // As full as can be: what the file system set aside for the first blocks, the last ones get.
            for (int length = block.Length; bytes == 0 && length > 0; length /= 4)
                FillWith(file, block.AsSpan(0, length));
        }

        private static void FillWith(FileStream file, ReadOnlySpan<byte> block)
        {
            try
            {
                while (true)
                    file.Write(block);
            }
            catch (IOException)
            {
                file.Flush(flushToDisk: true);
            }
        }

        public void Dispose() => File.Delete(_path);
    }
}

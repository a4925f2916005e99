using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>D5: the file system finds an error in itself and turns read-only under the broker.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D5")]
[Trait("Tier", "C")]
public sealed class ReadOnlyDiskTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_disk_that_turns_read_only_fails_durable_topics_and_nothing_else()
    {
        using LoopFileSystem disk = LoopFileSystem.Create("ext4", 128, "noatime,errors=remount-ro");
        var run = new FaultRun("D5.read-only", "ext4 finds an error and turns read-only under load");
        await using var broker = new FaultBroker(Path.Combine(disk.Path, "data"));
        var topic = new FaultTopic(new TopicSpec("t") { Kind = TopicKind.Durable });
        await broker.StartAsync();
        int acknowledged;
        await using (LightQClient client = broker.Connect())
        {
            await client.Topics.CreateAsync(topic.Spec, TestContext.Current.CancellationToken);
            await client.Topics.CreateAsync(
                new TopicSpec("transient") { Kind = TopicKind.Transient },
                TestContext.Current.CancellationToken
            );
            acknowledged = await PublishAcrossAsync(disk, client, topic.Ledger, run.RandomFor(0));

            // What is there can be read, and what needs no disk works.
            await topic.VerifyAsync(client, Durability.Fsync, mayHaveFailed: true);
            await using Producer transient = await client.CreateProducerAsync(
                "transient",
                cancellationToken: TestContext.Current.CancellationToken
            );
            await transient
                .PublishAsync("still here"u8.ToArray(), cancellationToken: TestContext.Current.CancellationToken)
                .AsTask()
                .WaitAsync(Patience, TestContext.Current.CancellationToken);
            LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
                client.Topics.CreateAsync(
                    new TopicSpec("u") { Kind = TopicKind.Durable },
                    TestContext.Current.CancellationToken
                )
            );
            run.Figure("code of a refused creation", (long)refused.Code);
            Assert.NotEmpty((await client.Topics.GetAsync("t", TestContext.Current.CancellationToken)).Failure);
        }
        await broker.KillAsync();
        disk.Remount();
        await broker.StartAsync();
        await using (LightQClient client = broker.Connect())
            await topic.VerifyAsync(client, Durability.Fsync);

        run.Count("acknowledged", acknowledged);
        run.Count("read back", topic.Verified);
        run.Count("violations", topic.Ledger.Violations.Count);
        run.Report();
        Assert.True(
            topic.Ledger.Violations.Count == 0,
            $"LIGHTQ_SEED={run.Seed}:\n{string.Join('\n', topic.Ledger.Violations.Take(40))}"
        );
    }

    /// <summary>
    /// Publishes one by one, lets the disk fail in the middle of it, and ends with the error that this brings.
    /// </summary>
    private static async Task<int> PublishAcrossAsync(
        LoopFileSystem disk,
        LightQClient client,
        PublishLedger ledger,
        Random random
    )
    {
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );
        int failsBehind = random.Next(100, 1_000);
        for (int acknowledged = 0; ; acknowledged++)
        {
            if (acknowledged == failsBehind)
                disk.TurnReadOnly();
            Assert.True(acknowledged <= failsBehind, "A message was acknowledged by a disk that cannot be written to.");
            (SentMessage message, byte[] body) = ledger.Create(0, random);
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
                Assert.Equal((failsBehind, ErrorCode.TopicFailed), (acknowledged, e.Code));
                return acknowledged;
            }
        }
    }
}

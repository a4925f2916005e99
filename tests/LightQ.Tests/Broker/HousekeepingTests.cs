using LightQ.Broker;
using LightQ.Broker.Producers;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Scheduling;
using LightQ.Tests.Broker.Groups;
using LightQ.Tests.Storage;
using Xunit;
using Partition = LightQ.Broker.Topics.Partition;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker;

/// <summary>What a broker does by itself, when it is due and not before; and that it looks at nothing else.</summary>
public sealed class HousekeepingTests
{
    private static readonly BrokerOptions Options = new();
    private static readonly TimeSpan Grain = TimeSpan.FromMilliseconds(500),
        Flush = TimeSpan.FromMilliseconds(250);

    [Theory]
    [InlineData(SettleMode.Automatic)]
    [InlineData(SettleMode.Explicit)]
    public async Task Where_a_group_has_got_to_is_on_the_disk_a_second_later_each_time_it_moves(SettleMode mode)
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join(mode: mode);
        Look(host.Partition); // Where the group begins.
        for (int settled = 1; settled <= 2; settled++)
        {
            await host.PublishAsync(1);
            Assert.Null(Look(host.Partition)); // Nothing has moved.
            await TakeAndSettleAsync(member);
            host.Time.Advance(Options.PositionInterval);
            // It was taken to be written, by a thread of its own.
            Assert.False(Assert.Single(host.Partition.Groups()).TryTakeState(out _));
            await GroupHost.EventuallyAsync(() =>
            {
                host.Time.Advance(Flush);
                return KeptPosition(host) == settled;
            });
            Assert.Null(Look(host.Partition));
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(130)]
    [InlineData(260)]
    [InlineData(499)]
    public async Task What_was_settled_is_on_its_way_to_the_disk_within_a_second(int phase)
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join();
        Look(host.Partition);
        // The moments of housekeeping are fixed, and a settlement comes when it likes.
        host.Time.Advance(TimeSpan.FromMilliseconds(phase));
        await host.PublishAsync(1);
        await TakeAndSettleAsync(member);
        host.Time.Advance(Grain);
        host.Time.Advance(Flush);
        // What is due is written by a thread of its own, which may have asked for its next look a moment after the
        // clock had moved.
        TimeSpan rest = TimeSpan.FromSeconds(1) - Grain - Flush,
            step = TimeSpan.FromMilliseconds(1);
        await GroupHost.EventuallyAsync(() =>
        {
            if (rest > step)
                host.Time.Advance(step);
            rest -= step;
            return KeptPosition(host) == 1;
        });
    }

    [Fact]
    public async Task Where_a_group_has_got_to_is_kept_at_a_stop_that_comes_before_that()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        await host.PublishAsync(1);
        Subscription member = host.Join();
        await TakeAndSettleAsync(member);
        GroupHost.Leave(member);
        await host.RestartAsync();

        Assert.Equal(
            1,
            Assert
                .Single(host.Broker.Groups.Find(host.Broker.GetTopic(GroupHost.TopicName), GroupHost.GroupName))
                .Committed
        );
    }

    [Fact]
    public async Task A_named_producer_is_forgotten_when_it_has_been_away_for_so_long()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        ProducerStream producer = host.Broker.OpenProducer(
            host,
            1,
            new OpenProducerFrame(GroupHost.TopicName, 0, Durability.Default, "me"),
            out ProducerOpenedFrame opened
        );
        Assert.True(producer.Publish(FirstBatch(opened)));
        Assert.Equal(1, host.Partition.Log.EndOffset);
        host.Time.Advance(2 * Options.ProducerExpiry);
        Assert.False(host.Partition.NamedProducers.IsEmpty);
        producer.Release();
        Assert.False(host.Partition.NamedProducers.IsEmpty);

        host.Time.Advance(Options.ProducerExpiry + Grain);
        Assert.True(host.Partition.NamedProducers.IsEmpty);
        Assert.Null(Look(host.Partition));
    }

    [Fact]
    public async Task The_ring_of_a_transient_topic_is_given_back_when_nobody_has_used_it_for_so_long()
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        Partition partition = host
            .Broker.CreateTopic("t", new TopicSettings { Kind = TopicKind.Transient, MaxMessageBytes = 1024 })
            .Partitions[0];
        for (int use = 0; use < 2; use++)
        {
            ProducerStream producer = host.Broker.OpenProducer(
                host,
                1,
                new OpenProducerFrame("t", 0, Durability.Default, ""),
                out _
            );
            Assert.True(producer.Publish(TestBatch.Make(1)));
            host.Time.Advance(2 * Options.RestAfter);
            Assert.NotEqual(0, partition.Log.StoredBytes);
            producer.Release();
            host.Time.Advance(Options.RestAfter - Grain);
            Assert.NotEqual(0, partition.Log.StoredBytes);

            host.Time.Advance(2 * Grain);
            Assert.Equal(0, partition.Log.StoredBytes);
            Assert.Null(Look(partition));
        }
    }

    [Fact]
    public async Task A_subscription_that_stands_still_is_ended_when_producers_have_waited_for_so_long()
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        Partition partition = host
            .Broker.CreateTopic(
                "t",
                new TopicSettings
                {
                    Kind = TopicKind.Transient,
                    MaxMessageBytes = 1024,
                    RingBytes = 512 * 1024,
                }
            )
            .Partitions[0];
        var request = new SubscribeFrame(
            "t",
            0,
            "",
            StartKind.Earliest,
            0,
            -1,
            0,
            0,
            SettleMode.Automatic,
            SlowPolicy.Block,
            0,
            0
        );
        Subscription subscription = host.Broker.Subscribe(host, 2, request, out _);
        ProducerStream producer = host.Broker.OpenProducer(
            host,
            1,
            new OpenProducerFrame("t", 0, Durability.Default, ""),
            out _
        );
        host.Time.Advance(2 * Options.SlowTimeout);
        const int More = 200; // Than the ring holds, and less than the window.
        for (int number = 0; number < More; number++)
            Assert.True(producer.Publish(TestBatch.Make(number, bodyBytes: 4000)));
        Assert.InRange(partition.Log.EndOffset, 1, More - 1);

        host.Time.Advance(Options.SlowTimeout - Grain);
        Assert.Null(subscription.CloseRequested);
        host.Time.Advance(2 * Grain);
        Assert.Equal(ErrorCode.SlowConsumer, subscription.CloseRequested?.Code);
        producer.Release(); // It waits, and the log goes when the broker does.
    }

    private static TimeSpan? Look(Partition partition) => ((IHousekept)partition).Look(default);

    private static byte[] FirstBatch(in ProducerOpenedFrame opened)
    {
        byte[] batch = new byte[BatchLayout.HeaderSize + RecordWriter.SizeOf(1) + BatchLayout.Alignment];
        int length = RecordWriter.Write(batch.AsSpan(BatchLayout.HeaderSize), "x"u8);
        return batch[
            ..BatchWriter.Complete(
                batch,
                length,
                1,
                new BatchOrigin(opened.ProducerId, opened.ProducerEpoch, 0),
                timestamp: 1
            )
        ];
    }

    private static async Task TakeAndSettleAsync(Subscription member)
    {
        Delivery delivery = default;
        await GroupHost.EventuallyAsync(() => member.TryTake(out delivery) == DeliveryResult.Run);
        member.Sent(delivery.Run);
        if (delivery.Range.Count != 0)
            Assert.Equal(SettleOutcome.Done, GroupHost.SettleAll(member, SettleKind.Complete, delivery.Range));
    }

    /// <summary>What a broker would find that is started on the files as they are now.</summary>
    private static long KeptPosition(GroupHost host)
    {
        string copy = host.CopyFiles();
        try
        {
            LightQBroker broker = LightQBroker
                .OpenAsync(copy, new BrokerOptions(), TimeProvider.System)
                .GetAwaiter()
                .GetResult();
            try
            {
                Topic topic = broker.GetTopic(GroupHost.TopicName);
                return broker.Groups.NamesOf(topic).Count == 0
                    ? -1
                    : broker.Groups.Find(topic, GroupHost.GroupName)[0].Committed;
            }
            finally
            {
                broker.DisposeAsync().AsTask().GetAwaiter().GetResult();
            }
        }
        finally
        {
            Directory.Delete(copy, recursive: true);
        }
    }
}

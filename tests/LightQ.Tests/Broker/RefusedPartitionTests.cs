using LightQ.Broker;
using LightQ.Broker.Backups;
using LightQ.Broker.Groups;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Scheduling;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker;

/// <summary>
/// A topic of which one partition cannot be opened at the start: that one is refused, the others are served, and
/// nothing that needs all of them is done by halves.
/// </summary>
public sealed class RefusedPartitionTests : IStreamOwner, IDisposable
{
    private const uint Partitions = 4,
        Refused = 2;
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-refused").FullName;
    private uint _lastStream;

    uint IStreamOwner.ConnectionId => 1;

    void IStreamOwner.Schedule(OutputStream stream) { }

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public async Task The_other_partitions_are_served_and_the_refusal_names_partition_and_offsets_and_no_path()
    {
        string damaged = await MakeAsync();
        Flip(damaged, message: 1);
        await using LightQBroker broker = await OpenAsync();
        Topic topic = broker.GetTopic("orders");
        Assert.True(topic.IsIncomplete);
        for (uint partition = 0; partition < Partitions; partition++)
        {
            if (partition == Refused)
                continue;
            ProducerStream producer = Open(broker, partition, out _);
            Publish(producer, 0, default);
            Assert.Equal(4, producer.Partition.Log.EndOffset);
            producer.Release();
            Subscribe(broker, partition).Release();
        }
        foreach (
            Action refused in new Action[]
            {
                () => Open(broker, Refused, out _),
                () => Subscribe(broker, Refused),
                () => broker.TruncateTopic("orders", Refused, 1),
            }
        )
        {
            BrokerException error = Assert.Throws<BrokerException>(refused);
            Assert.Equal(ErrorCode.CorruptData, error.Code);
            Assert.StartsWith("partition 2: ", error.Message, StringComparison.Ordinal);
            Assert.Contains("offsets 1 to", error.Message, StringComparison.Ordinal);
            Assert.DoesNotContain(_directory, error.Message, StringComparison.Ordinal);
            Assert.Equal(topic.Failure, error.Message);
        }
        Assert.Contains(_directory, topic.Partitions[(int)Refused].Refusal!.Detail, StringComparison.Ordinal);
        Assert.Equal(
            ErrorCode.UnknownPartition,
            Assert.Throws<BrokerException>(() => topic.GetPartition(Partitions)).Code
        );
    }

    [Fact]
    public async Task A_producer_that_lets_the_broker_choose_never_gets_a_refused_partition()
    {
        await HideAsync(0);
        await using LightQBroker broker = await OpenAsync();
        uint[] chosen =
        [
            .. Enumerable
                .Range(0, 6)
                .Select(i =>
                    Open(broker, OpenProducerFrame.AnyPartition, out ProducerOpenedFrame opened).Partition.Index
                ),
        ];
        Assert.Equal([1u, 2, 3, 1, 2, 3], chosen);
    }

    [Fact]
    public async Task A_topic_of_which_every_partition_is_refused_is_refused()
    {
        string hidden = await HideAsync(0);
        for (uint partition = 1; partition < Partitions; partition++)
        {
            Directory.Move(
                Path.Combine(Path.GetDirectoryName(hidden)!, $"{partition}"),
                Path.Combine(_directory, $"hidden-{partition}")
            );
        }

        await using LightQBroker broker = await OpenAsync();
        BrokerException error = Assert.Throws<BrokerException>(() =>
            Open(broker, OpenProducerFrame.AnyPartition, out _)
        );
        Assert.Equal((ErrorCode.CorruptData, broker.GetTopic("orders").Failure), (error.Code, error.Message));
    }

    [Fact]
    public async Task A_partition_that_was_put_back_is_served_with_everything_that_was_in_it()
    {
        string directory = await HideAsync(Refused);
        await using (LightQBroker broker = await OpenAsync())
        {
            Assert.Equal(
                [false, false, true, false],
                broker.GetTopic("orders").Partitions.Select(p => p.Refusal is not null)
            );
        }

        Assert.False(Directory.Exists(directory)); // Refusing makes nothing in its place.
        Directory.Move(Path.Combine(_directory, "hidden"), directory);
        await using LightQBroker again = await OpenAsync();
        Assert.Equal([3L, 3, 3, 3], again.GetTopic("orders").Partitions.Select(p => p.Log.EndOffset));
        await again.DeleteTopicAsync("orders", TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task A_topic_is_deleted_with_its_refused_partition()
    {
        Flip(await MakeAsync(), message: 1);
        await using LightQBroker broker = await OpenAsync();
        await broker.DeleteTopicAsync("orders", TestContext.Current.CancellationToken);
        Assert.Empty(Directory.GetFileSystemEntries(Path.Combine(_directory, "topics")));
    }

    [Fact]
    public async Task A_groups_position_on_a_refused_partition_is_kept_and_what_is_said_of_the_group_holds_there_too()
    {
        string directory = await MakeAsync(broker =>
        {
            Join(broker, all: true);
            broker.Groups.Reset(broker.GetTopic("orders"), "billing", null, StartKind.Offset, 2, out _);
        });
        Directory.Move(directory, Path.Combine(_directory, "hidden"));
        await using (LightQBroker broker = await OpenAsync())
        {
            Topic topic = broker.GetTopic("orders");
            Assert.Equal([0u, 1, 3], broker.Groups.Find(topic, "billing").Select(g => g.Partition.Index));
            Assert.Contains(
                broker.Groups.Explain(topic, "billing"),
                r => r.Hold == GroupHold.TopicFailed && r.Partition == Refused
            );
            Assert.Equal(
                ErrorCode.CorruptData,
                Assert
                    .Throws<BrokerException>(() =>
                        broker.Groups.Reset(topic, "billing", null, StartKind.Earliest, 0, out _)
                    )
                    .Code
            );
            Assert.Equal(
                ErrorCode.CorruptData,
                Assert
                    .Throws<BrokerException>(() =>
                        broker.Groups.Reset(topic, "billing", Refused, StartKind.Earliest, 0, out _)
                    )
                    .Code
            );
            broker.Groups.Reset(topic, "billing", 1, StartKind.Earliest, 0, out IReadOnlyList<long> offsets);
            Assert.Equal([0L], offsets);
            broker.Groups.SetPaused(topic, "billing", paused: true);
        }
        Directory.Move(Path.Combine(_directory, "hidden"), directory);
        await using LightQBroker again = await OpenAsync();
        IReadOnlyList<Group> groups = again.Groups.Find(again.GetTopic("orders"), "billing");
        Assert.Equal([2L, 0, 2, 2], groups.Select(g => g.Figures().Committed));
        Assert.All(groups, g => Assert.True(g.IsPaused));
    }

    [Fact]
    public async Task A_group_that_was_used_on_the_refused_partition_alone_does_not_hide_the_others()
    {
        string directory = await MakeAsync(broker => Join(broker, all: false));
        Directory.Move(directory, Path.Combine(_directory, "hidden"));
        await using LightQBroker broker = await OpenAsync();
        Topic topic = broker.GetTopic("orders");
        Assert.Empty(broker.Groups.Summarize(broker.Groups.NamesOf([topic])));
        Assert.Equal(
            ErrorCode.CorruptData,
            Assert.Throws<BrokerException>(() => broker.Groups.Find(topic, "billing")).Code
        );
        Assert.Equal(ErrorCode.UnknownTopic, Assert.Throws<BrokerException>(() => broker.GetTopic("other")).Code);
    }

    [Fact]
    public async Task No_named_producer_is_forgotten_while_a_partition_that_may_remember_it_is_refused()
    {
        string directory = await MakeAsync(broker =>
        {
            ProducerStream producer = Open(broker, Refused, out ProducerOpenedFrame opened, "first");
            Publish(producer, 0, new BatchOrigin(opened.ProducerId, opened.ProducerEpoch, 0));
            producer.Release();
        });
        Directory.Move(directory, Path.Combine(_directory, "hidden"));
        var options = new BrokerOptions { MaxNamedProducersPerTopic = 1 };
        await using (LightQBroker broker = await OpenAsync(options))
        {
            Assert.Equal(
                ErrorCode.CorruptData,
                Assert.Throws<BrokerException>(() => Open(broker, 0, out _, "second")).Code
            );
        }

        Directory.Move(Path.Combine(_directory, "hidden"), directory);
        await using LightQBroker again = await OpenAsync(options);
        Open(again, Refused, out ProducerOpenedFrame known, "first").Release();
        Assert.Equal(1ul, known.NextSequence);
    }

    [Fact]
    public async Task A_backup_leaves_out_a_topic_that_is_not_whole_or_is_refused()
    {
        await HideAsync(Refused);
        await using LightQBroker broker = await OpenAsync();
        BrokerException error = await Assert.ThrowsAsync<BrokerException>(() =>
            broker.BeginBackupAsync(skipFailed: false, TestContext.Current.CancellationToken)
        );
        Assert.Contains("partition 2", error.Message, StringComparison.Ordinal);
        BrokerBackup backup = await broker.BeginBackupAsync(skipFailed: true, TestContext.Current.CancellationToken);
        Assert.Equal(["orders"], backup.SkippedTopics.Select(t => t.Name));
    }

    [Fact]
    public async Task Dead_letters_are_not_driven_back_while_their_originals_cannot_be_looked_up()
    {
        string directory = await MakeAsync(broker =>
        {
            Join(broker, all: true, SettleMode.Explicit);
            broker.CreateTopic(
                "orders.dead",
                new TopicSettings
                {
                    Kind = TopicKind.Durable,
                    SegmentBytes = 1 << 20,
                    RingBytes = 1 << 19,
                    MaxMessageBytes = 1024,
                }
            );
        });
        Directory.Move(directory, Path.Combine(_directory, "hidden"));
        await using LightQBroker broker = await OpenAsync();
        BrokerException error = await Assert.ThrowsAsync<BrokerException>(() =>
            broker.Groups.RedriveAsync(broker.GetTopic("orders"), "billing", CancellationToken.None)
        );
        Assert.Equal(ErrorCode.CorruptData, error.Code);
    }

    /// <summary>Makes a topic with three messages in each partition, and stops.</summary>
    /// <returns>The directory of the partition that is to be refused.</returns>
    private async Task<string> MakeAsync(Action<LightQBroker>? more = null)
    {
        await using LightQBroker broker = await OpenAsync();
        Topic topic = broker.CreateTopic(
            "orders",
            new TopicSettings
            {
                Kind = TopicKind.Durable,
                Partitions = Partitions,
                MaxMessageBytes = 1024,
                SegmentBytes = 1 << 20,
                RingBytes = 1 << 19,
            }
        );
        for (uint partition = 0; partition < Partitions; partition++)
        {
            ProducerStream producer = Open(broker, partition, out _);
            for (uint i = 0; i < 3; i++)
                Publish(producer, i, default);
            producer.Release();
        }
        more?.Invoke(broker);
        return Path.Combine(_directory, "topics", topic.Id.ToString("N"), $"{Refused}");
    }

    private async Task<string> HideAsync(uint partition)
    {
        string directory = Path.Combine(Path.GetDirectoryName(await MakeAsync())!, $"{partition}");
        Directory.Move(directory, Path.Combine(_directory, "hidden"));
        return directory;
    }

    /// <summary>
    /// Flips a bit in a batch's header, in the middle of a log whose checkpoint is gone: what is behind it shows that
    /// it had been durable.
    /// </summary>
    private static void Flip(string journal, int message)
    {
        string segment = Assert.Single(Directory.GetFiles(journal, "*.seg"));
        byte[] bytes = File.ReadAllBytes(segment);
        int at = 4096;
        for (int i = 0; i < message; i++)
            at += BitConverter.ToInt32(bytes, at);
        bytes[at + 40] ^= 1;
        File.WriteAllBytes(segment, bytes);
        File.Delete(Path.Combine(journal, "checkpoint"));
    }

    private void Join(LightQBroker broker, bool all, SettleMode mode = SettleMode.Automatic)
    {
        for (uint partition = all ? 0 : Refused; partition <= (all ? Partitions - 1 : Refused); partition++)
        {
            var request = new SubscribeFrame(
                "orders",
                partition,
                "billing",
                StartKind.Earliest,
                0,
                -1,
                0,
                0,
                mode,
                SlowPolicy.TopicDefault,
                0,
                Member: 5
            );
            Subscription subscription = broker.Subscribe(this, ++_lastStream, request, out _);
            subscription.Release();
        }
        if (!all)
            broker.Groups.Reset(broker.GetTopic("orders"), "billing", null, StartKind.Offset, 2, out _);
    }

    private static void Publish(ProducerStream producer, ulong sequence, BatchOrigin origin)
    {
        byte[] bytes = new byte[BatchLayout.HeaderSize + RecordWriter.SizeOf(16) + 8];
        int length = RecordWriter.Write(bytes.AsSpan(BatchLayout.HeaderSize), new byte[16]);
        length = BatchWriter.Complete(bytes, length, 1, origin with { BaseSequence = sequence }, timestamp: 1);
        using (TurnScope.Enter())
        {
            Assert.True(producer.Publish(bytes.AsSpan(0, length)));
            producer.Flush();
        }
        Assert.True(
            SpinWait.SpinUntil(
                () => producer.Partition.Log.DurableOffset == producer.Partition.Log.EndOffset,
                TimeSpan.FromSeconds(30)
            )
        );
    }

    private Task<LightQBroker> OpenAsync(BrokerOptions? options = null) =>
        LightQBroker.OpenAsync(_directory, options ?? new BrokerOptions(), TimeProvider.System);

    private ProducerStream Open(
        LightQBroker broker,
        uint partition,
        out ProducerOpenedFrame opened,
        string name = ""
    ) =>
        broker.OpenProducer(
            this,
            ++_lastStream,
            new OpenProducerFrame("orders", partition, Durability.Default, name),
            out opened
        );

    private Subscription Subscribe(LightQBroker broker, uint partition) =>
        broker.Subscribe(
            this,
            ++_lastStream,
            new SubscribeFrame(
                "orders",
                partition,
                "",
                StartKind.Earliest,
                0,
                -1,
                0,
                0,
                SettleMode.Automatic,
                SlowPolicy.TopicDefault,
                0
            ),
            out _
        );
}

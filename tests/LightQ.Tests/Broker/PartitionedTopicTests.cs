using LightQ.Broker;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Scheduling;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker;

/// <summary>Topics of several partitions in the engine: on a real directory, without sockets.</summary>
public sealed class PartitionedTopicTests : IStreamOwner, IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-partitions").FullName;
    private uint _lastStream;

    uint IStreamOwner.ConnectionId => 1;

    void IStreamOwner.Schedule(OutputStream stream) { }

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Theory]
    [InlineData(0, false)]
    [InlineData(1, true)]
    [InlineData(1024, true)]
    [InlineData(1025, false)]
    public void A_topic_has_1_to_1024_partitions(uint partitions, bool allowed)
    {
        var settings = new TopicSettings { Partitions = partitions };
        if (allowed)
        {
            Assert.Equal(partitions, settings.Complete().Partitions);
            return;
        }
        BrokerException error = Assert.Throws<BrokerException>(settings.Complete);
        Assert.Equal(
            (ErrorCode.InvalidArgument, $"partitions is {partitions}; allowed: 1 to 1024."),
            (error.Code, error.Message)
        );
    }

    [Theory]
    [InlineData("/3/")]
    [InlineData("/catalog/")]
    public async Task A_topic_of_which_one_file_cannot_be_made_leaves_nothing_behind(string failing)
    {
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        await using LightQBroker broker = await OpenAsync(files);
        files.Before = (operation, path) =>
        {
            if (operation == "sync" && path.Contains(failing, StringComparison.Ordinal))
                throw new StorageIOException(StorageIOException.Sync, path, error: 5);
        };
        BrokerException error = Assert.ThrowsAny<BrokerException>(() => Create(broker, "orders", 8));
        Assert.Equal(ErrorCode.Internal, error.Code);
        Assert.Contains("fdatasync failed", error.Message, StringComparison.Ordinal);
        Assert.DoesNotContain(_directory, error.Message, StringComparison.Ordinal);
        Assert.False(broker.TryGetTopic("orders", out _));
        files.Before = (_, _) => { };
        string topics = Path.Combine(_directory, "topics");
        // The catalog may know of it until it is written anew, so its files stay so long.
        Assert.True(
            SpinWait.SpinUntil(
                () => !Directory.Exists(topics) || Directory.GetFileSystemEntries(topics).Length == 0,
                TimeSpan.FromSeconds(30)
            ),
            "Something is left behind."
        );
    }

    [Fact]
    public async Task What_is_in_the_partitions_is_there_again_after_a_restart()
    {
        await using (LightQBroker broker = await OpenAsync())
        {
            Create(broker, "orders", 4);
            for (uint partition = 0; partition < 4; partition++)
            {
                ProducerStream producer = Open(broker, partition, out _);
                for (uint i = 0; i <= partition; i++)
                    Publish(producer, i, default);
                producer.Release();
            }
        }
        await using LightQBroker again = await OpenAsync();
        Topic topic = again.GetTopic("orders");
        Assert.Equal([0u, 1u, 2u, 3u], topic.Partitions.Select(p => p.Index));
        Assert.Equal([1L, 2L, 3L, 4L], topic.Partitions.Select(p => p.Log.EndOffset));
        Assert.Equal(3, again.TruncateTopic("orders", 3, 3));
        Assert.Equal([0L, 0L, 0L, 3L], topic.Partitions.Select(p => p.Log.StartOffset));
        await again.DeleteTopicAsync("orders", TestContext.Current.CancellationToken);
        Assert.Empty(Directory.GetFileSystemEntries(Path.Combine(_directory, "topics")));
    }

    [Fact]
    public async Task A_stop_waits_for_the_topic_that_is_being_deleted()
    {
        Task deleted;
        await using (LightQBroker broker = await OpenAsync())
        {
            Create(broker, "orders", 2);
            ProducerStream producer = Open(broker, 1, out _);
            deleted = broker.DeleteTopicAsync("orders", TestContext.Current.CancellationToken); // Waits until the stream has ended.
            producer.Release();
        }
        await deleted;
        Assert.Empty(Directory.GetFileSystemEntries(Path.Combine(_directory, "topics")));
    }

    [Fact]
    public async Task A_producer_that_lets_the_broker_choose_gets_the_partition_with_the_fewest()
    {
        await using LightQBroker broker = await OpenAsync();
        Create(broker, "orders", 3);
        var opened = new List<ProducerStream>();
        for (int i = 0; i < 4; i++)
            opened.Add(Open(broker, OpenProducerFrame.AnyPartition, out _));
        Assert.Equal([0u, 1u, 2u, 0u], opened.Select(p => p.Partition.Index));
        opened[1].Release();
        ProducerStream next = Open(broker, OpenProducerFrame.AnyPartition, out ProducerOpenedFrame frame);
        Assert.Equal((1u, 1u, 3u), (next.Partition.Index, frame.Partition, frame.PartitionCount));
        opened.ForEach(p => p.Release());
        next.Release();
    }

    [Fact]
    public async Task A_subscription_is_of_one_partition_and_knows_its_consumer()
    {
        await using LightQBroker broker = await OpenAsync();
        Create(broker, "orders", 3);
        BrokerException all = Assert.Throws<BrokerException>(() =>
            Subscribe(broker, OpenProducerFrame.AnyPartition, out _)
        );
        Assert.Equal(ErrorCode.UnknownPartition, all.Code);
        Assert.Contains("has 3 partitions", all.Message, StringComparison.Ordinal);
        BrokerException none = Assert.Throws<BrokerException>(() => Subscribe(broker, 3, out _));
        Assert.Equal(
            (ErrorCode.UnknownPartition, "The topic 'orders' has no partition 3; allowed: 0 to 2."),
            (none.Code, none.Message)
        );
        Subscription subscription = Subscribe(broker, 2, out SubscribedFrame frame);
        Assert.Equal((2u, 77u, 3u), (subscription.Partition.Index, subscription.Member, frame.PartitionCount));
        subscription.Release();
    }

    [Fact]
    public async Task A_named_producer_does_not_fence_itself_and_a_newer_one_fences_it_on_every_partition()
    {
        await using LightQBroker broker = await OpenAsync();
        Create(broker, "orders", 4);
        (ProducerStream[] older, BatchOrigin[] olderOrigins) = OpenAll(broker, "billing");
        for (int i = 0; i < 4; i++)
            Publish(older[i], 0, olderOrigins[i]);
        Assert.Equal([1L, 1L, 1L, 1L], broker.GetTopic("orders").Partitions.Select(p => p.Log.EndOffset));

        (ProducerStream[] newer, BatchOrigin[] newerOrigins) = OpenAll(broker, "billing");
        for (int i = 0; i < 4; i++)
        {
            Publish(older[i], 1, olderOrigins[i]);
            Assert.Equal(ErrorCode.Fenced, await EndAsync(older[i]));
            Publish(newer[i], 1, newerOrigins[i]);
            Assert.Null(newer[i].CloseRequested);
        }
        Assert.Equal([2L, 2L, 2L, 2L], broker.GetTopic("orders").Partitions.Select(p => p.Log.EndOffset));
        foreach (ProducerStream producer in older.Concat(newer))
            producer.Release();
    }

    [Fact]
    public async Task A_name_opens_64_partitions_for_one_sync_and_no_epoch_is_given_twice()
    {
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        int syncs = 0;
        uint last = 0;
        for (int start = 1; start <= 3; start++)
        {
            files.Before = static (_, _) => { };
            await using LightQBroker broker = await OpenAsync(files);
            if (start == 1)
                Create(broker, "orders", 1);
            syncs = 0;
            files.Before = (operation, path) =>
                syncs += operation == "sync" && path.Contains("/catalog/", StringComparison.Ordinal) ? 1 : 0;
            for (int i = 0; i < 65; i++)
            {
                ProducerStream producer = Open(broker, 0, out ProducerOpenedFrame opened, "billing");
                Assert.True(opened.ProducerEpoch > last, $"epoch {opened.ProducerEpoch} after {last}");
                last = opened.ProducerEpoch;
                producer.Release();
                Assert.Equal(i < 64 ? 1 : 2, syncs);
            }
        }
    }

    [Fact]
    public async Task Who_returns_to_a_name_that_another_has_taken_over_is_fenced_also_by_a_restarted_broker()
    {
        const ulong Older = 1,
            Newer = 2;
        for (int start = 1; start <= 2; start++)
        {
            await using LightQBroker broker = await OpenAsync();
            if (start == 1)
            {
                Create(broker, "orders", 2);
                Return(broker, 0, Older, isReturning: false).Release();
                Return(broker, 1, Older, isReturning: true).Release();
                Return(broker, 0, Newer, isReturning: false).Release();
            }
            for (uint partition = 0; partition < 2; partition++)
            {
                BrokerException error = Assert.Throws<BrokerException>(() =>
                    Return(broker, partition, Older, isReturning: true)
                );
                Assert.Equal(
                    (ErrorCode.Fenced, "A newer producer has taken over the name 'billing'."),
                    (error.Code, error.Message)
                );
                Return(broker, partition, Newer, isReturning: true).Release();
            }
        }
        await using LightQBroker last = await OpenAsync();
        Return(last, 0, Older, isReturning: false).Release();
        Assert.Equal(
            ErrorCode.Fenced,
            Assert.Throws<BrokerException>(() => Return(last, 0, Newer, isReturning: true)).Code
        );
    }

    [Fact]
    public async Task A_name_that_is_open_is_not_forgotten_on_a_partition_that_it_does_not_use()
    {
        await using LightQBroker broker = await OpenAsync();
        Partition partition = Create(broker, "orders", 2).Partitions[1];
        ProducerStream older = Open(broker, 1, out ProducerOpenedFrame opened, "billing");
        lock (partition.AppendLock)
            partition.NamedProducers.Expire(long.MaxValue);
        ProducerStream newer = Open(broker, 1, out _, "billing");
        Publish(older, 0, new BatchOrigin(opened.ProducerId, opened.ProducerEpoch, 0));
        Assert.Equal(ErrorCode.Fenced, older.CloseRequested?.Code);
        older.Release();
        newer.Release();
        lock (partition.AppendLock)
        {
            partition.NamedProducers.Expire(long.MaxValue);
            Assert.Null(partition.NamedProducers.Find(opened.ProducerId));
        }
    }

    private static Topic Create(LightQBroker broker, string name, uint partitions) =>
        broker.CreateTopic(
            name,
            new TopicSettings
            {
                Kind = TopicKind.Durable,
                Partitions = partitions,
                MaxMessageBytes = 1024,
                SegmentBytes = 1 << 20,
                RingBytes = 1 << 19,
            }
        );

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
    }

    /// <summary>Takes the acks of what is stored, behind which the stream ends.</summary>
    private static async Task<ErrorCode> EndAsync(ProducerStream producer)
    {
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        for (; producer.CloseRequested is null; producer.TakeOutput(new AckRange[8]))
            await Task.Delay(1, patience.Token);
        return producer.CloseRequested.Code;
    }

    private Task<LightQBroker> OpenAsync(IFileSystem? files = null)
    {
        var options = new BrokerOptions();
        if (files is not null)
            options = options with { OpenEnvironment = o => new JournalEnvironment(o, files) };
        return LightQBroker.OpenAsync(_directory, options, TimeProvider.System);
    }

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

    private ProducerStream Return(LightQBroker broker, uint partition, ulong instance, bool isReturning) =>
        broker.OpenProducer(
            this,
            ++_lastStream,
            new OpenProducerFrame("orders", partition, Durability.Default, "billing", instance, isReturning),
            out _
        );

    private Subscription Subscribe(LightQBroker broker, uint partition, out SubscribedFrame subscribed)
    {
        var request = new SubscribeFrame(
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
            0,
            Member: 77
        );
        return broker.Subscribe(this, ++_lastStream, request, out subscribed);
    }

    private (ProducerStream[] Streams, BatchOrigin[] Origins) OpenAll(LightQBroker broker, string name)
    {
        var streams = new ProducerStream[4];
        var origins = new BatchOrigin[4];
        for (uint i = 0; i < 4; i++)
        {
            streams[i] = Open(broker, i, out ProducerOpenedFrame opened, name);
            origins[i] = new BatchOrigin(opened.ProducerId, opened.ProducerEpoch, opened.NextSequence);
        }
        return (streams, origins);
    }
}

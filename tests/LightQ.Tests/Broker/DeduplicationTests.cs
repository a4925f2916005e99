using LightQ.Broker;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Logs;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Scheduling;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Broker.Groups;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker;

/// <summary>
/// Messages with ids on topics with a window: what is stored, what the acks say, and what a start finds again in a log
/// as kill -9 leaves it.
/// </summary>
public sealed class DeduplicationTests : IStreamOwner, IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60),
        Minute = TimeSpan.FromMinutes(1);
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-dedup").FullName;
    private readonly ManualTime _time = new();
    private uint _lastStream;

    uint IStreamOwner.ConnectionId => 1;

    void IStreamOwner.Schedule(OutputStream stream) { }

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Theory]
    [InlineData(TopicKind.Transient)]
    [InlineData(TopicKind.Durable)]
    public async Task A_message_with_a_known_id_is_not_stored_and_its_ack_says_where_the_first_is(TopicKind kind)
    {
        await using LightQBroker broker = await OpenAsync("a");
        Partition partition = Create(broker, kind);
        ProducerStream producer = Open(broker),
            other = Open(broker);

        Publish(producer, Batch("a", 0), Batch(null, 1), Batch("b", 2), Batch("a", 3), Batch("c", 4));
        Assert.Equal([Stored(0, 0, 3), Duplicate(3, 0), Stored(4, 3)], Acks(producer, 3));
        Publish(other, Batch("c", 0));
        Assert.Equal([Duplicate(0, 3)], Acks(other, 1));
        Assert.Equal(
            (4, 4, 2, 3),
            (
                partition.Log.EndOffset,
                partition.Counters.MessagesReceived,
                partition.Counters.Duplicates,
                partition.RememberedIds
            )
        );

        _time.Advance(Minute);
        Publish(other, Batch("c", 1));
        Assert.Equal([Stored(1, 4)], Acks(other, 1));
    }

    [Fact]
    public async Task Without_a_window_an_id_is_stored_and_means_nothing()
    {
        await using LightQBroker broker = await OpenAsync("a");
        Partition partition = Create(broker, window: TimeSpan.Zero);
        Publish(Open(broker), Batch("a", 0), Batch("a", 1));
        Assert.Null(partition.Dedup);
        await DurableAsync(partition);
        Assert.Equal(["a", "a"], Ids(partition));
    }

    [Fact]
    public async Task A_duplicate_is_acknowledged_only_when_the_first_one_is_as_safe_as_asked_for()
    {
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        await using LightQBroker broker = await OpenAsync("a", files);
        Partition partition = Create(broker);
        ProducerStream producer = Open(broker),
            other = Open(broker),
            hasty = Open(broker, ack: Durability.Memory);
        Publish(producer, Batch(null, 0));
        await DurableAsync(partition);
        using var mayGoOn = new ManualResetEventSlim();
        files.Before = (operation, path) =>
        {
            if (operation == "sync" && Path.GetFileName(path).Contains("seg", StringComparison.Ordinal))
                mayGoOn.Wait();
        };
        try
        {
            Publish(producer, Batch("a", 1));
            Publish(other, Batch("a", 0));
            Publish(hasty, Batch("a", 0));
            Assert.Equal([Duplicate(0, 1)], Acks(hasty, 1));
            Assert.Equal([Stored(0, 0)], Acks(producer, 1));
            Assert.Empty(Acks(other, 0));
        }
        finally
        {
            files.Before = static (_, _) => { };
            mayGoOn.Set();
        }
        Assert.Equal([Stored(1, 1)], Acks(producer, 1));
        Assert.Equal([Duplicate(0, 1)], Acks(other, 1));
        Assert.Equal(2, partition.Log.EndOffset);
    }

    [Fact]
    public async Task Of_many_producers_that_publish_the_same_ids_at_once_one_is_stored_of_each()
    {
        const int Producers = 4,
            Messages = 500;
        await using LightQBroker broker = await OpenAsync("a");
        Partition partition = Create(broker);
        ProducerStream[] producers =
        [
            .. Enumerable.Range(0, Producers).Select(_ => Open(broker, ack: Durability.Memory)),
        ];
        List<AckRange>[] acks = await Task.WhenAll(
            producers.Select(producer =>
                Task.Run(() =>
                {
                    var ranges = new List<AckRange>();
                    for (int i = 0; i < Messages; i++)
                    {
                        Publish(producer, Batch($"{i}", (ulong)i));
                        ranges.AddRange(Acks(producer, 1));
                    }
                    return ranges;
                })
            )
        );
        Assert.Equal(Messages, partition.Log.EndOffset);
        Assert.Equal(Messages, acks.Sum(a => a.Count(r => !r.IsDuplicate)));
        for (int i = 0; i < Messages; i++)
            Assert.Single(acks.Select(a => a[i].BaseOffset).Distinct());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_start_finds_in_the_log_what_the_window_remembers(bool isKilled)
    {
        await using (LightQBroker broker = await OpenAsync("before"))
        {
            Partition partition = Create(broker);
            ProducerStream producer = Open(broker);
            Publish(producer, Batch("old", 0));
            await DurableAsync(partition);
            _time.Advance(Minute / 2);
            Publish(producer, Batch("a", 1), Batch(null, 2), Batch("b", 3), Batch("a", 4));
            await DurableAsync(partition);
            _time.Advance(Minute / 2);
            if (isKilled)
                DataDirectory.CopyAsKilled(PathOf("before"), PathOf("after"));
        }
        await using LightQBroker again = await OpenAsync(isKilled ? "after" : "before");
        Partition recovered = again.GetTopic("t").Partitions[0];
        Assert.Equal(2, recovered.RememberedIds);
        ProducerStream back = Open(again);
        Publish(back, Batch("b", 0), Batch("a", 1), Batch("old", 2), Batch("c", 3));
        Assert.Equal([Duplicate(0, 3), Duplicate(1, 1), Stored(2, 4, 2)], Acks(back, 3));
    }

    [Fact]
    public async Task A_start_reads_the_newest_segments_until_it_has_as_many_ids_as_are_remembered()
    {
        const int Messages = 3000;
        await using (LightQBroker broker = await OpenAsync("before"))
        {
            Partition partition = Create(broker, maxIds: 100);
            ProducerStream producer = Open(broker);
            for (int i = 0; i < Messages; i++)
            {
                Publish(producer, Batch($"{i}", (ulong)i, bodyBytes: 1000));
                if (i % 100 == 99)
                {
                    await DurableAsync(partition, i + 1);
                    Acks(producer, 1);
                }
            }
        }
        Assert.True(
            Directory
                .GetFiles(PathOf("before"), "*.seg", SearchOption.AllDirectories)
                .Count(p => p.Contains("topics", StringComparison.Ordinal)) > 3
        );
        var read = new HashSet<string>();
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        files.Before = (operation, path) =>
        {
            lock (read)
            {
                if (
                    operation == "read"
                    && path.EndsWith(".seg", StringComparison.Ordinal)
                    && path.Contains("topics", StringComparison.Ordinal)
                )
                {
                    read.Add(path);
                }
            }
        };
        await using LightQBroker again = await OpenAsync("before", files);
        Partition recovered = again.GetTopic("t").Partitions[0];
        Assert.Equal((100, Messages), (recovered.RememberedIds, recovered.Log.EndOffset));
        ProducerStream back = Open(again);
        Publish(back, Batch($"{Messages - 100}", 0), Batch($"{Messages - 101}", 1));
        Assert.Equal([Duplicate(0, Messages - 100), Stored(1, Messages)], Acks(back, 2));
    }

    [Fact]
    public async Task A_damaged_message_does_not_count_as_stored()
    {
        await using (LightQBroker broker = await OpenAsync("before"))
        {
            Partition partition = Create(broker);
            ProducerStream producer = Open(broker);
            for (int i = 0; i < 3; i++)
            {
                Publish(producer, Batch($"{i}", (ulong)i, fill: (byte)(0xA0 + i)));
                await DurableAsync(partition);
            }
            DataDirectory.CopyAsKilled(PathOf("before"), PathOf("after"));
        }
        string segment = Assert.Single(
            Directory.GetFiles(PathOf("after"), "*.seg", SearchOption.AllDirectories),
            p => p.Contains("topics", StringComparison.Ordinal)
        );
        byte[] bytes = await File.ReadAllBytesAsync(segment, TestContext.Current.CancellationToken);
        bytes[bytes.AsSpan().IndexOf(Enumerable.Repeat((byte)0xA1, 16).ToArray())] ^= 1;
        await File.WriteAllBytesAsync(segment, bytes, TestContext.Current.CancellationToken);

        await using LightQBroker again = await OpenAsync("after");
        ProducerStream back = Open(again);
        Publish(back, Batch("0", 0), Batch("1", 1), Batch("2", 2));
        Assert.Equal([Duplicate(0, 0), Stored(1, 3), Duplicate(2, 2)], Acks(back, 3));
    }

    [Fact]
    public async Task A_named_producer_goes_on_over_a_kill_though_duplicates_left_holes_in_its_numbers()
    {
        await using (LightQBroker broker = await OpenAsync("before"))
        {
            Partition partition = Create(broker);
            ProducerStream producer = Open(broker, "p", out ProducerOpenedFrame opened);
            Publish(producer, [.. Named(opened, "a", "a", "b", "a")]);
            await DurableAsync(partition);
            Assert.Equal([Stored(0, 0), Duplicate(1, 0), Stored(2, 1), Duplicate(3, 0)], Acks(producer, 4));
            DataDirectory.CopyAsKilled(PathOf("before"), PathOf("after"));
        }
        await using LightQBroker again = await OpenAsync("after");
        Partition recovered = again.GetTopic("t").Partitions[0];
        ProducerStream back = Open(again, "p", out ProducerOpenedFrame reopened);
        Assert.Equal(3UL, reopened.NextSequence); // What was dropped last is in no log.
        byte[][] sentAgain = [.. Named(reopened, "a", "a", "b", "a", "c")];
        Publish(back, sentAgain);
        Assert.Equal([Stored(0, 0), Duplicate(1, 0), Stored(2, 1), Duplicate(3, 0), Stored(4, 2)], Acks(back, 5));
        Publish(back, sentAgain);
        Assert.Equal([Stored(0, 0), Duplicate(1, 0), Stored(2, 1), Duplicate(3, 0), Stored(4, 2)], Acks(back, 5));
        Assert.Equal(3, recovered.Log.EndOffset);
    }

    [Fact]
    public async Task A_message_that_was_dropped_is_a_duplicate_even_when_its_id_is_forgotten()
    {
        await using (LightQBroker broker = await OpenAsync("before"))
        {
            Partition partition = Create(broker);
            ProducerStream producer = Open(broker, "p", out ProducerOpenedFrame opened);
            Publish(producer, [.. Named(opened, "a", "a", "b")]);
            await DurableAsync(partition);
            DataDirectory.CopyAsKilled(PathOf("before"), PathOf("after"));
        }
        _time.Advance(2 * Minute);
        await using LightQBroker again = await OpenAsync("after");
        ProducerStream back = Open(again, "p", out ProducerOpenedFrame reopened);
        Publish(back, [.. Named(reopened, "a", "a", "b", "b")]);
        Assert.Equal([Stored(0, 0), Duplicate(1, -1), Stored(2, 1, 2)], Acks(back, 3));
    }

    [Fact]
    public async Task What_overlaps_stored_messages_or_leaves_a_gap_is_refused_as_ever()
    {
        await using LightQBroker broker = await OpenAsync("a");
        Create(broker);
        foreach (
            (ulong sequence, ErrorCode expected) in new[]
            {
                (0UL, ErrorCode.SequenceOverlap),
                (3UL, ErrorCode.OutOfOrder),
            }
        )
        {
            ProducerStream producer = Open(broker, $"p{sequence}", out ProducerOpenedFrame opened);
            Publish(producer, Batch($"first-{sequence}", 0, opened), Batch($"second-{sequence}", 1, opened));
            Publish(producer, Batch($"new-{sequence}", sequence, opened, fill: 9));
            Assert.Equal(new AckRange(sequence, 1, expected, -1), Acks(producer, 2)[^1]);
        }
    }

    [Fact]
    public async Task A_delayed_message_is_known_by_its_id_while_it_waits_when_it_was_delivered_and_behind_a_kill()
    {
        await using (LightQBroker broker = await OpenAsync("before"))
        {
            Partition partition = Create(broker, window: 10 * Minute);
            ProducerStream producer = Open(broker);
            Publish(
                producer,
                Batch("a", 0, dueAt: _time.GetUtcNow() + Minute),
                Batch("a", 1, dueAt: _time.GetUtcNow() + Minute),
                Batch("a", 2)
            );
            Assert.Equal([Stored(0, 0), Duplicate(1, 0), Duplicate(2, 0)], Acks(producer, 3));
            Assert.Equal(1, partition.DelayedMessages);
            _time.Advance(2 * Minute);
            Assert.True(SpinWait.SpinUntil(() => partition.DelayedMessages == 0, Patience));
            await DurableAsync(partition);
            Assert.Equal((2, 1), (partition.Log.EndOffset, partition.RememberedIds));
            Assert.Equal(["a", "a"], Ids(partition)); // The delivery says it, too.
            Publish(producer, Batch("a", 3));
            Assert.Equal([Duplicate(3, 0)], Acks(producer, 1));
            DataDirectory.CopyAsKilled(PathOf("before"), PathOf("after"));
        }
        await using LightQBroker again = await OpenAsync("after");
        ProducerStream back = Open(again);
        Publish(back, Batch("a", 0));
        Assert.Equal([Duplicate(0, 0)], Acks(back, 1));
        Assert.Equal(2, again.GetTopic("t").Partitions[0].Log.EndOffset);
    }

    [Fact]
    public async Task A_window_that_is_switched_on_or_made_longer_holds_from_what_the_log_has()
    {
        await using LightQBroker broker = await OpenAsync("a");
        Partition partition = Create(broker, window: TimeSpan.Zero);
        ProducerStream producer = Open(broker, ack: Durability.Memory);
        Publish(producer, Batch("a", 0), Batch("b", 1));
        await ChangeAsync(broker, Minute);
        Publish(producer, Batch("a", 2));
        Assert.Equal([Stored(0, 0, 2) with { IsUnchecked = true }, Duplicate(2, 0)], Acks(producer, 2));
        _time.Advance(Minute);
        await ChangeAsync(broker, 5 * Minute);
        Publish(producer, Batch("b", 3));
        Assert.Equal([Duplicate(3, 1)], Acks(producer, 1));
        await ChangeAsync(broker, Minute);
        Publish(producer, Batch("b", 4));
        Assert.Equal([Stored(4, 2)], Acks(producer, 1));
        await ChangeAsync(broker, TimeSpan.Zero);
        Publish(producer, Batch("b", 5));
        Assert.Equal([Stored(5, 3) with { IsUnchecked = true }], Acks(producer, 1));
        Assert.Equal(0, partition.RememberedIds);
    }

    [Fact]
    public async Task A_window_that_waits_for_the_disk_holds_nobody_up_and_says_when_it_gives_up()
    {
        using var mayGoOn = new ManualResetEventSlim();
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        await using LightQBroker broker = await OpenAsync("a", files);
        Partition partition = Create(broker, window: TimeSpan.Zero);
        ProducerStream producer = Open(broker, ack: Durability.Memory);
        string directory = partition.Topic.Id.ToString("N");
        files.Before = (operation, path) =>
        {
            if (operation == "write" && path.Contains(directory, StringComparison.Ordinal))
                mayGoOn.Wait();
        };
        try
        {
            Publish(producer, Batch("a", 0));
            Task change = ChangeAsync(broker, Minute);
            broker.CreateTopic("other", new TopicSettings());
            Task shorter = ChangeAsync(broker, Minute / 2),
                others = partition.Topic.IdsRead;
            Assert.Equal((false, false, false), (change.IsCompleted, shorter.IsCompleted, others.IsCompleted));
            Publish(producer, Batch("b", 1), Batch("b", 2));
            Assert.Equal([Stored(0, 0) with { IsUnchecked = true }, Stored(1, 1), Duplicate(2, 1)], Acks(producer, 3));
            await GroupHost.EventuallyAsync(() =>
            {
                _time.Advance(TimeSpan.FromSeconds(1));
                return others.IsCompleted;
            });
            foreach (Task told in (Task[])[change, shorter, others])
            {
                BrokerException error = await Assert.ThrowsAsync<BrokerException>(() => told);
                Assert.Contains("the disk does not take", error.Message, StringComparison.Ordinal);
            }
            Assert.True(partition.Topic.IdsRead.IsCompletedSuccessfully); // What the caller was told is over.
        }
        finally
        {
            files.Before = static (_, _) => { };
            mayGoOn.Set();
        }
        await ChangeAsync(broker, 10 * Minute);
        Publish(producer, Batch("a", 3));
        Assert.Equal([Duplicate(3, 0)], Acks(producer, 1));
    }

    [Fact]
    public async Task What_was_removed_from_the_log_is_forgotten_by_a_restart_and_not_before()
    {
        await using (LightQBroker broker = await OpenAsync("a"))
        {
            Partition partition = Create(broker);
            ProducerStream producer = Open(broker);
            for (int i = 0; i < 600; i++)
                Publish(producer, Batch($"{i}", (ulong)i, bodyBytes: 1000));
            await DurableAsync(partition, 600);
            Acks(producer, 1);
            broker.TruncateTopic("t", 0, -1);
            Assert.Equal(600, partition.Log.StartOffset);
            Publish(producer, Batch("0", 600));
            Assert.Equal([Duplicate(600, 0)], Acks(producer, 1));
        }
        await using LightQBroker again = await OpenAsync("a");
        ProducerStream back = Open(again);
        Publish(back, Batch("0", 0));
        Assert.Equal([Stored(0, 600)], Acks(back, 1));
    }

    [Fact]
    public async Task Ids_that_are_forgotten_before_their_time_are_counted_and_told_once_an_hour()
    {
        var told = new ForgottenIds();
        await using LightQBroker broker = await LightQBroker.OpenAsync(
            PathOf("a"),
            new BrokerOptions { StorageEvents = told },
            _time
        );
        Partition partition = Create(broker, maxIds: 2, window: TimeSpan.FromDays(7));
        ProducerStream producer = Open(broker);
        Publish(producer, Batch("a", 0), Batch("b", 1));
        Assert.Equal(0, partition.Counters.ForgottenIds);
        Publish(producer, Batch("c", 2), Batch("d", 3), Batch("a", 4));
        Assert.Equal(3, partition.Counters.ForgottenIds);
        await PassUntilAsync(() => told.Count == 1);
        Publish(producer, Batch("e", 5));
        for (int i = 0; i < 59; i++)
            _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(1, told.Count);
        await PassUntilAsync(() => told.Count == 2);
        Assert.Equal(4, told.Last);

        // An id whose time is over is forgotten as it should be.
        _time.Advance(TimeSpan.FromDays(8));
        Publish(producer, Batch("f", 6), Batch("g", 7));
        Assert.Equal(4, partition.Counters.ForgottenIds);

        Task PassUntilAsync(Func<bool> isSo) =>
            GroupHost.EventuallyAsync(() =>
            {
                _time.Advance(TimeSpan.FromSeconds(10));
                return isSo();
            });
    }

    [Fact]
    public async Task Ids_are_forgotten_in_time_though_no_other_message_comes()
    {
        await using LightQBroker broker = await OpenAsync("a");
        Partition partition = Create(broker);
        Publish(Open(broker), Batch("a", 0), Batch("b", 1));
        Assert.Equal(2, partition.RememberedIds);
        await GroupHost.EventuallyAsync(() =>
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            return partition.RememberedIds == 0;
        });
    }

    private static AckRange Stored(ulong sequence, long offset, uint count = 1) =>
        new(sequence, count, ErrorCode.None, offset);

    private static AckRange Duplicate(ulong sequence, long offset) =>
        new(sequence, 1, ErrorCode.None, offset, IsDuplicate: true);

    private static Partition Create(
        LightQBroker broker,
        TopicKind kind = TopicKind.Durable,
        TimeSpan? window = null,
        int maxIds = 0
    ) =>
        broker
            .CreateTopic(
                "t",
                new TopicSettings
                {
                    Kind = kind,
                    MaxMessageBytes = 1024,
                    SegmentBytes = 1 << 19,
                    RingBytes = 1 << 19,
                    DedupWindow = window ?? Minute,
                    DedupMaxIds = maxIds,
                }
            )
            .Partitions[0];

    private static Task ChangeAsync(LightQBroker broker, TimeSpan window)
    {
        Topic topic = broker.GetTopic("t");
        return broker.ChangeSettingsAsync(topic, topic.Settings with { DedupWindow = window });
    }

    private static IEnumerable<byte[]> Named(ProducerOpenedFrame opened, params string[] ids) =>
        ids.Select((id, sequence) => Batch(id, (ulong)sequence, opened, fill: (byte)sequence));

    private static byte[] Batch(
        string? id,
        ulong sequence,
        ProducerOpenedFrame opened = default,
        int bodyBytes = 100,
        byte fill = 1,
        DateTimeOffset? dueAt = null
    )
    {
        var properties = new BatchProperties(dueAt is { } due ? UnixMicroseconds.From(due) : 0, 0, id);
        byte[] body = new byte[bodyBytes];
        body.AsSpan().Fill(fill);
        byte[] bytes = new byte[properties.HeaderLength + RecordWriter.SizeOf(bodyBytes) + 8];
        int length = RecordWriter.Write(bytes.AsSpan(properties.HeaderLength), body);
        return bytes[
            ..BatchWriter.Complete(
                bytes,
                length,
                1,
                length,
                BatchCodec.None,
                properties,
                new BatchOrigin(opened.ProducerId, opened.ProducerEpoch, sequence),
                timestamp: 1
            )
        ];
    }

    private static void Publish(ProducerStream producer, params byte[][] batches)
    {
        using (TurnScope.Enter())
        {
            Assert.True(producer.Publish(batches.SelectMany(b => b).ToArray()));
            producer.Flush();
        }
    }

    /// <summary>Waits for so many ranges; what is there, when that is none.</summary>
    private static List<AckRange> Acks(ProducerStream producer, int count)
    {
        var all = new List<AckRange>();
        AckRange[] ranges = new AckRange[64];
        bool came = SpinWait.SpinUntil(
            () =>
            {
                all.AddRange(ranges[..producer.TakeOutput(ranges).Ranges]);
                return all.Count >= count;
            },
            Patience
        );
        Assert.True(came, $"{all.Count} of {count} ranges came.");
        return all;
    }

    private static Task DurableAsync(Partition partition, long end = 0)
    {
        partition.FlushAndWake();
        return GroupHost.EventuallyAsync(() =>
            partition.Log.DurableOffset == partition.Log.EndOffset && partition.Log.EndOffset >= end
        );
    }

    private static List<string> Ids(Partition partition)
    {
        using LogReader reader = partition.Log.OpenReader(StartKind.Earliest, 0, holds: false, static () => { });
        var ids = new List<string>();
        while (
            reader.Cursor.Offset < partition.Log.ReadableOffset
            && reader.TryRead(1 << 16, out LentRun run, out _) == ReadResult.Run
        )
        {
            foreach (BatchView batch in new BatchRun(run.Memory.Span))
                ids.Add(System.Text.Encoding.UTF8.GetString(batch.MessageId));
            reader.MoveTo(run.End);
        }
        return ids;
    }

    private string PathOf(string name) => Path.Combine(_directory, name);

    private Task<LightQBroker> OpenAsync(string name, IFileSystem? files = null)
    {
        var options = new BrokerOptions();
        if (files is not null)
            options = options with { OpenEnvironment = o => new JournalEnvironment(o, files) };
        return LightQBroker.OpenAsync(PathOf(name), options, _time);
    }

    private ProducerStream Open(LightQBroker broker, Durability ack = Durability.Default) =>
        broker.OpenProducer(
            this,
            Interlocked.Increment(ref _lastStream),
            new OpenProducerFrame("t", 0, ack, ""),
            out _
        );

    private ProducerStream Open(LightQBroker broker, string name, out ProducerOpenedFrame opened) =>
        broker.OpenProducer(this, ++_lastStream, new OpenProducerFrame("t", 0, Durability.Default, name), out opened);

    private sealed class ForgottenIds : IStorageEvents
    {
        private int _count;
        private long _last;

        public int Count => Volatile.Read(ref _count);

        public long Last => Volatile.Read(ref _last);

        public void OnIdsForgotten(Partition partition, long count)
        {
            Volatile.Write(ref _last, count);
            Interlocked.Increment(ref _count);
        }

        public void OnDeadLettered(
            Partition partition,
            string group,
            string deadTopic,
            DeadLettered letters,
            long leftOut
        ) { }

        public void OnGroupEnded(Topic topic, string group, TimeSpan unused) { }

        public void OnDamaged(Partition partition, JournalDamage damage) { }

        public void OnRebuilt(string what) { }

        public void OnUnknownTopic(string directory) { }

        public void OnTopicFailed(Partition partition, JournalFailure failure) { }

        public void OnDiskFull(Partition partition, bool isFull) { }

        public void OnGrown(Partition partition, long bytes) { }

        public void OnHeld(Partition partition, long bytes, LightQ.Broker.Groups.RetentionHold hold) { }

        public void OnPartitionLost(Partition partition, string reason) { }

        public void OnStateFailed(StoredState state, JournalFailure? failure) { }

        public void OnRefused(string what, Exception error) { }
    }
}

using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.IO.Compression;
using System.Text;
using LightQ.Broker;
using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker;

/// <summary>
/// Delayed batches that retention would have to wait for are copied to the end of their log, and what is delivered
/// stays exactly that: every one, once.
/// </summary>
public sealed class DelayedCopyTests : IDisposable
{
    private const int Body = 1000,
        Segment = 1 << 19;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60),
        LongDelay = TimeSpan.FromDays(300);

    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-copies").FullName;
    private readonly ManualTime _time = new();
    private int _numbers;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public async Task Messages_that_are_due_in_a_year_hold_no_more_than_their_own_bytes()
    {
        const int Delayed = 30;
        await using LightQBroker broker = await OpenAsync(_directory);
        Partition partition = Create(broker, 1 << 20);
        for (int i = 0; i < Delayed; i++)
        {
            Publish(partition, LongDelay);
            for (int plain = 0; plain < 300; plain++)
                Publish(partition);
        }
        await TendAsync(
            () => partition.Log.StoredBytes <= (1 << 20) + (2 * Segment),
            () => $"{partition.Log.StoredBytes} bytes are kept"
        );
        Assert.Equal(Delayed, partition.DelayedMessages);
        long end = partition.Log.EndOffset;
        Assert.InRange(end, Delayed * 301, (Delayed * 301) + (2 * Delayed)); // None was copied more often than need be.
        _time.Advance(LongDelay);
        Assert.Equal(Enumerable.Range(0, Delayed).Select(i => i * 301), await DeliveredAsync(partition, end));
    }

    [Fact]
    public async Task A_broker_that_ends_at_any_moment_between_copy_and_removal_delivers_each_message_once()
    {
        const int Delayed = 5;
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        var states = new ConcurrentQueue<string>();
        string copies = Directory.CreateTempSubdirectory("lightq-states").FullName;
        try
        {
            await using (LightQBroker broker = await OpenAsync(_directory, files))
            {
                Partition partition = Create(broker, Segment);
                for (int i = 0; i < Delayed; i++)
                {
                    Publish(partition, LongDelay);
                    for (int plain = 0; plain < 300; plain++)
                        Publish(partition);
                }
                Assert.True(SpinWait.SpinUntil(() => partition.Log.DurableOffset == partition.Log.EndOffset, Patience));
                Assert.Equal(0, partition.Log.StartOffset);
                files.Turn = new Lock();
                files.Before = (operation, path) =>
                {
                    if (operation == "read" || !path.Contains("topics", StringComparison.Ordinal))
                        return;
                    string state = Path.Combine(copies, $"{states.Count}");
                    DataDirectory.CopyAsKilled(_directory, state);
                    states.Enqueue(state);
                };
                await TendAsync(
                    () => partition.Log.StoredBytes <= 3 * Segment && partition.Log.StartOffset > 0,
                    () => $"{partition.Log.StoredBytes} bytes are kept"
                );
                files.Before = static (_, _) => { };
            }
            _time.Advance(LongDelay);
            int both = 0,
                moved = 0;
            foreach (string state in states)
            {
                await using LightQBroker broker = await OpenAsync(state);
                Partition partition = broker.GetTopic("t").Partitions[0];
                (both, moved) = (
                    both + (partition.Log.StartOffset == 0 ? 1 : 0),
                    moved + (partition.Log.StartOffset > 0 ? 1 : 0)
                );
                Assert.Equal(Enumerable.Range(0, Delayed).Select(i => i * 301), await DeliveredAsync(partition, 0));
            }
            Assert.True(
                both > 0 && moved > 0,
                $"{states.Count} states, {both} in front of the move of the log's start and {moved} behind it"
            );
        }
        finally
        {
            Directory.Delete(copies, recursive: true);
        }
    }

    [Fact]
    public async Task A_copy_stays_copied_over_restarts_and_the_next_takes_its_place()
    {
        Partition partition;
        await using (LightQBroker broker = await OpenAsync(_directory))
        {
            partition = Create(broker, Segment);
            Publish(partition, LongDelay);
            await FillAndTendAsync(partition);
        }
        for (int start = 0; start < 3; start++)
        {
            await using LightQBroker broker = await OpenAsync(_directory);
            partition = broker.GetTopic("t").Partitions[0];
            Assert.Equal(1, partition.DelayedMessages);
            await FillAndTendAsync(partition);
        }
        await using LightQBroker last = await OpenAsync(_directory);
        partition = last.GetTopic("t").Partitions[0];
        (long Offset, int Number, long DueAt, long Origin) copy = Assert.Single(
            Read(partition, partition.Log.StartOffset),
            b => b.DueAt != 0 && b.Offset == partition.Delays!.FirstOffset
        );
        Assert.Equal((0, 0L), (copy.Number, copy.Origin));
        Assert.True(copy.Offset > 8000, $"The newest copy is at {copy.Offset}.");
        _time.Advance(LongDelay);
        Assert.Equal([0], await DeliveredAsync(partition, copy.Offset));
    }

    [Fact]
    public async Task A_message_that_the_disk_does_not_read_is_tried_again_and_holds_up_no_other()
    {
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        string first;
        await using (LightQBroker broker = await OpenAsync(_directory))
        {
            Partition partition = Create(broker, retentionBytes: 0);
            Publish(partition, LongDelay);
            for (int plain = 0; plain < 1500; plain++)
                Publish(partition);
            Publish(partition, LongDelay + TimeSpan.FromSeconds(1)); // In another segment.
            Assert.True(SpinWait.SpinUntil(() => partition.Log.DurableOffset == partition.Log.EndOffset, Patience));
            first = Directory
                .GetFiles(_directory, "*.seg", SearchOption.AllDirectories)
                .Where(path => path.Contains("topics", StringComparison.Ordinal))
                .Order()
                .First();
        }
        await using (LightQBroker broker = await OpenAsync(_directory, files))
        {
            Partition partition = broker.GetTopic("t").Partitions[0];
            long end = partition.Log.EndOffset;
            files.Before = (operation, path) =>
            {
                if (operation == "read" && path == first)
                    throw new StorageIOException(operation, path, 5);
            };
            _time.Advance(LongDelay + TimeSpan.FromSeconds(2));
            await TendAsync(
                () => partition.DelayedMessages == 1 && partition.Log.ReadableOffset > end,
                () => $"{partition.DelayedMessages} messages wait"
            );
            Assert.Equal([1501], Read(partition, end).Select(b => b.Number));
            files.Before = static (_, _) => { };
            Assert.Equal([1501, 0], await DeliveredAsync(partition, end));
        }
    }

    [Fact]
    public async Task What_waits_is_not_copied_where_that_would_free_less_than_it_costs()
    {
        await using LightQBroker broker = await OpenAsync(_directory);
        Partition partition = Create(broker, 2 * Segment);
        for (int i = 0; i < 800; i++)
            Publish(partition, LongDelay);
        for (int i = 0; i < 800; i++)
            Publish(partition);
        long end = partition.Log.EndOffset;
        for (int i = 0; i < 200; i++)
            await StepAsync();
        Assert.Equal((0, end), (partition.Log.StartOffset, partition.Log.EndOffset));
        for (int i = 0; i < 2000; i++)
            Publish(partition);
        await TendAsync(() => partition.Log.StartOffset > 0, () => "Nothing was removed.");
        // One that is being copied is counted nowhere for a moment.
        await TendAsync(
            () => partition.DelayedMessages == 800,
            () => $"{partition.DelayedMessages} messages wait instead of 800."
        );
        Assert.True(partition.Log.EndOffset > end + 2000); // A copy that is old itself may be copied again.
    }

    [Fact]
    public async Task In_a_topic_that_rests_they_are_copied_once_and_not_with_every_age_that_passes()
    {
        await using LightQBroker broker = await OpenAsync(_directory);
        Partition partition = Create(broker, 0, TimeSpan.FromHours(1));
        Publish(partition, LongDelay);
        for (int i = 0; i < 2000; i++)
            Publish(partition);
        _time.Advance(TimeSpan.FromHours(2));
        await TendAsync(
            () => partition.Log.StoredBytes <= Segment,
            () => $"{partition.Log.StoredBytes} bytes are kept"
        );
        Assert.Equal(2002, partition.Log.EndOffset);
        for (int i = 0; i < 100; i++)
        {
            _time.Advance(TimeSpan.FromHours(1));
            await StepAsync();
        }
        Assert.Equal((2002, 1), (partition.Log.EndOffset, partition.DelayedMessages));
    }

    [Fact]
    public async Task What_was_delivered_and_is_not_on_the_disk_yet_is_kept_where_it_was()
    {
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        await using LightQBroker broker = await OpenAsync(_directory, files);
        Partition partition = Create(broker, Segment);
        Publish(partition);
        Publish(partition, TimeSpan.FromMinutes(1));
        Assert.True(SpinWait.SpinUntil(() => partition.Log.DurableOffset == 2, Patience));
        using var mayGoOn = new ManualResetEventSlim();
        files.Before = (operation, path) =>
        {
            if (operation == "sync" && Path.GetFileName(path).Contains("seg", StringComparison.Ordinal))
                mayGoOn.Wait();
        };
        _time.Advance(TimeSpan.FromMinutes(2));
        try
        {
            Assert.True(SpinWait.SpinUntil(() => partition.DelayedMessages == 0, Patience));
            Assert.Equal((2, 3), (partition.Log.DurableOffset, partition.Log.EndOffset));
            Assert.Equal(1, partition.Delays!.FirstOffset);
        }
        finally
        {
            files.Before = static (_, _) => { };
            mayGoOn.Set();
        }
        Assert.True(SpinWait.SpinUntil(() => partition.Delays!.FirstOffset == long.MaxValue, Patience));
        Assert.Equal(3, partition.Log.DurableOffset);
    }

    [Fact]
    public async Task No_more_bytes_wait_than_the_topic_keeps()
    {
        await using LightQBroker broker = await OpenAsync(_directory);
        Partition partition = Create(broker, 3000);
        byte[] batch = Batch(_time.GetUtcNow() + LongDelay);
        Assert.InRange(batch.Length, 1100, 1499);
        Assert.Equal(ErrorCode.None, Check());
        Publish(partition, LongDelay);
        Assert.Equal(ErrorCode.None, Check());
        Publish(partition, TimeSpan.FromMinutes(1));
        Assert.Equal(ErrorCode.ResourceExhausted, Check());
        Assert.Contains(
            "retention_bytes, 3000",
            partition.Delays!.Describe(ErrorCode.ResourceExhausted, user: 0),
            StringComparison.Ordinal
        );
        _time.Advance(TimeSpan.FromMinutes(2));
        Assert.True(SpinWait.SpinUntil(() => Check() == ErrorCode.None, Patience));

        // One alone always may, or a topic that keeps little could delay nothing.
        await broker.ChangeSettingsAsync(partition.Topic, partition.Topic.Settings with { RetentionBytes = 1 });
        Assert.Equal(ErrorCode.ResourceExhausted, Check());
        _time.Advance(LongDelay);
        Assert.True(SpinWait.SpinUntil(() => Check() == ErrorCode.None, Patience));

        ErrorCode Check()
        {
            lock (partition.AppendLock)
                return partition.Delays!.Check(new BatchView(Batch(_time.GetUtcNow() + LongDelay)), user: 0);
        }
    }

    [Fact]
    public async Task What_is_left_of_a_batch_that_nobody_compresses_so_well_again_comes_in_several()
    {
        const int Count = 9000; // The best levels bring as many into a batch, and those that are quick do not.
        await using LightQBroker broker = await OpenAsync(_directory);
        Partition partition = broker
            .CreateTopic("t", new TopicSettings { Kind = TopicKind.Durable, RingBytes = 1 << 23 })
            .Partitions[0];
        var properties = new BatchProperties(UnixMicroseconds.From(_time.GetUtcNow() + LongDelay), 0);
        byte[] bytes = new byte[partition.MaxBatchBytes],
            records = new byte[ProtocolLimits.InflatedBatchBytes];
        var random = new Random(1);
        string[] words = [.. Enumerable.Range(0, 5000).Select(_ => $"{random.Next():x8}"[..random.Next(3, 8)])];
        string[] phrases = [.. Enumerable.Range(0, 20_000).Select(_ => Text(random, words, random.Next(2, 7)))];
        int length = 0;
        for (int i = 0; i < Count; i++)
        {
            byte[] body = Encoding.ASCII.GetBytes($"    {Text(random, phrases, 30)}");
            BinaryPrimitives.WriteInt32LittleEndian(body, i);
            length += RecordWriter.Write(records.AsSpan(length), body);
        }
        Assert.True(
            BrotliEncoder.TryCompress(
                records.AsSpan(0, length),
                bytes.AsSpan(properties.HeaderLength, bytes.Length - properties.HeaderLength - BatchLayout.Alignment),
                out int payload,
                quality: 9,
                window: 24
            ),
            "It does not fit."
        );
        int batch = BatchWriter.Complete(
            bytes,
            payload,
            Count,
            length,
            BatchCodec.Brotli,
            properties,
            default,
            timestamp: 1
        );
        Assert.True(TryAppend(partition, bytes[..batch]));
        partition.FlushAndWake();
        Assert.Equal([true], await partition.Delays!.Cancelled.CancelAsync([5], TestContext.Current.CancellationToken));
        long before = partition.Log.EndOffset;

        _time.Advance(LongDelay);

        Assert.Equal(Enumerable.Range(0, Count).Where(i => i != 5), await DeliveredAsync(partition, before));
        Assert.True(Read(partition, before).Select(b => b.Offset).Distinct().Count() > 1, "One batch has all of it.");

        static string Text(Random random, string[] parts, int length) =>
            string.Join(' ', Enumerable.Range(0, length).Select(_ => parts[random.Next(parts.Length)]));
    }

    private static Partition Create(LightQBroker broker, long retentionBytes, TimeSpan retentionAge = default) =>
        broker
            .CreateTopic(
                "t",
                new TopicSettings
                {
                    Kind = TopicKind.Durable,
                    MaxMessageBytes = 1024,
                    SegmentBytes = Segment,
                    RingBytes = Segment,
                    RetentionBytes = retentionBytes,
                    RetentionAge = retentionAge,
                }
            )
            .Partitions[0];

    /// <summary>Publishes more than the topic keeps, and has what is too much removed.</summary>
    private async Task FillAndTendAsync(Partition partition)
    {
        long first = partition.Log.EndOffset;
        for (int i = 0; i < 2000; i++)
            Publish(partition);
        await TendAsync(
            () => partition.Log.StartOffset > first,
            () => $"The log begins at {partition.Log.StartOffset}, not behind {first}."
        );
        Assert.Equal(1, partition.DelayedMessages);
    }

    /// <summary>Appends a message whose body begins with its number.</summary>
    private void Publish(Partition partition, TimeSpan delay = default)
    {
        byte[] batch = Batch(delay == default ? default : _time.GetUtcNow() + delay);
        Assert.True(SpinWait.SpinUntil(() => TryAppend(partition, batch), Patience));
        partition.FlushAndWake();
    }

    private static bool TryAppend(Partition partition, byte[] batch)
    {
        lock (partition.AppendLock)
            return partition.Append(new BatchView(batch), partition.NextAppendTime(), out _) == AppendResult.Appended;
    }

    private byte[] Batch(DateTimeOffset dueAt)
    {
        byte[] body = new byte[Body];
        BinaryPrimitives.WriteInt32LittleEndian(body, _numbers++);
        var properties = new BatchProperties(dueAt == default ? 0 : UnixMicroseconds.From(dueAt), 0);
        byte[] bytes = new byte[properties.HeaderLength + RecordWriter.SizeOf(Body) + 8];
        int length = RecordWriter.Write(bytes.AsSpan(properties.HeaderLength), body);
        return bytes[
            ..BatchWriter.Complete(bytes, length, 1, length, BatchCodec.None, properties, default, timestamp: 1)
        ];
    }

    /// <summary>Waits until nothing waits any more.</summary>
    /// <returns>The numbers of what was delivered from an offset on, in its order.</returns>
    private async Task<IEnumerable<int>> DeliveredAsync(Partition partition, long from)
    {
        await TendAsync(
            () => partition.DelayedMessages == 0 && partition.Log.ReadableOffset == partition.Log.EndOffset,
            () => $"{partition.DelayedMessages} messages wait"
        );
        return Read(partition, Math.Max(from, partition.Log.StartOffset))
            .Where(b => b is { DueAt: 0, Origin: >= 0 })
            .Select(b => b.Number);
    }

    private static List<(long Offset, int Number, long DueAt, long Origin)> Read(Partition partition, long from)
    {
        using var ready = new ManualResetEventSlim();
        using LogReader reader = partition.Log.OpenReader(StartKind.Offset, from, holds: false, ready.Set);
        var found = new List<(long, int, long, long)>();
        var inflater = new BatchInflater(ProtocolLimits.InflatedBatchBytes);
        long end = partition.Log.ReadableOffset;
        while (reader.Cursor.Offset < end)
        {
            ready.Reset();
            ReadResult result = reader.TryRead(1 << 16, out LentRun run, out _);
            switch (result)
            {
                case ReadResult.Run:
                    foreach (BatchView batch in new BatchRun(run.Memory.Span))
                    {
                        BatchView whole = batch;
                        if (batch.Codec != BatchCodec.None)
                        {
                            Assert.True(inflater.TryInflate(batch));
                            whole = new BatchView(inflater.Memory.AsSpan(0, inflater.Length));
                        }
                        foreach (RecordView record in whole.Records)
                        {
                            found.Add(
                                (
                                    batch.BaseOffset,
                                    BinaryPrimitives.ReadInt32LittleEndian(record.Body),
                                    batch.DueAt,
                                    batch.OriginOffset
                                )
                            );
                        }
                    }
                    reader.MoveTo(run.End);
                    break;
                case ReadResult.Pending:
                    Assert.True(ready.Wait(Patience));
                    break;
                // Housekeeping goes on beside the test. What it may not remove would be missed by the caller.
                case ReadResult.Gap:
                    break;
                default:
                    Assert.Fail($"The log could not be read at {reader.Cursor.Offset}, before {end}: {result}.");
                    break;
            }
        }
        inflater.Return();
        return found;
    }

    private async Task TendAsync(Func<bool> condition, Func<string> otherwise)
    {
        for (int i = 0; !condition(); i++)
        {
            Assert.True(i < 20_000, otherwise());
            await StepAsync();
        }
    }

    /// <summary>Housekeeping goes by the broker's clock.</summary>
    private async Task StepAsync()
    {
        _time.Advance(TimeSpan.FromMilliseconds(50));
        await Task.Delay(1, TestContext.Current.CancellationToken);
    }

    private Task<LightQBroker> OpenAsync(string directory, IFileSystem? files = null)
    {
        var options = new BrokerOptions();
        if (files is not null)
            options = options with { OpenEnvironment = o => new JournalEnvironment(o, files) };
        return LightQBroker.OpenAsync(directory, options, _time);
    }
}

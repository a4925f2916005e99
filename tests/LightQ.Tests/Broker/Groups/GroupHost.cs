using System.Buffers.Binary;
using System.Globalization;
using LightQ.Broker;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Groups;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;
using Partition = LightQ.Broker.Topics.Partition;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker.Groups;

/// <summary>A broker with one durable topic, its clock and its members driven by hand: no sockets.</summary>
internal sealed class GroupHost : IStreamOwner, IAsyncDisposable
{
    public const string TopicName = "jobs",
        GroupName = "workers";
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);
    private readonly string _directory;
    private readonly FaultyFileSystem _files = new(PlatformFileSystem.Choose());
    private readonly SemaphoreSlim _scheduled = new(0);
    private readonly Dictionary<(string Topic, uint Partition), InternalProducer> _producers = [];
    private uint _lastStream;

    private GroupHost(string directory) => _directory = directory;

    uint IStreamOwner.ConnectionId => 1;

    public ManualTime Time { get; } = new();

    /// <summary>What the broker shares among its journals.</summary>
    public JournalEnvironment Environment { get; private set; } = null!;

    /// <summary>What the broker is told at its next start, besides its files.</summary>
    public BrokerOptions Options { get; set; } = new() { ScrubBytesPerSecond = 0 };

    /// <summary>Where the broker's files are.</summary>
    public FaultyFileSystem Files => _files;

    public LightQBroker Broker { get; private set; } = null!;

    public Partition Partition => Broker.GetTopic(TopicName).Partitions[0];

    public ExplicitGroup Group => (ExplicitGroup)Partition.Groups().Single(g => g.Name == GroupName);

    /// <summary>A durable topic whose segments are small.</summary>
    public static TopicSettings Small { get; } =
        new()
        {
            Kind = TopicKind.Durable,
            MaxMessageBytes = 4096,
            RingBytes = 512 * 1024,
            SegmentBytes = 512 * 1024,
        };

    /// <summary>With the topic <see cref="TopicName"/>.</summary>
    public static async Task<GroupHost> StartAsync(DeliverySettings? delivery = null)
    {
        GroupHost host = await OpenAsync();
        host.CreateTopic(TopicName, delivery ?? new DeliverySettings());
        return host;
    }

    /// <summary>Without topics.</summary>
    public static Task<GroupHost> OpenAsync() => OpenAsync(Directory.CreateTempSubdirectory("lightq-groups-").FullName);

    /// <summary>On what <see cref="CopyFiles"/> has left, which goes with it.</summary>
    public static async Task<GroupHost> OpenAsync(string directory)
    {
        var host = new GroupHost(directory);
        await host.OpenBrokerAsync();
        return host;
    }

    public void CreateTopic(string name, DeliverySettings delivery, uint partitions = 1) =>
        Broker.CreateTopic(name, Small with { Delivery = delivery, Partitions = partitions });

    /// <summary>Has everything looked after that is due sooner or later: positions, files, retention.</summary>
    public void Look()
    {
        for (int round = 0; round < 4; round++)
        {
            foreach (Partition partition in Broker.Topics.SelectMany(t => t.Partitions))
                Broker.Groups.Keep(partition);
            Environment.Housekeeping.RunOnce();
        }
    }

    public Task DeleteTopicAsync(string name)
    {
        foreach ((string Topic, uint Partition) key in _producers.Keys.Where(k => k.Topic == name).ToArray())
        {
            _producers[key].Dispose();
            _producers.Remove(key);
        }
        return AdvanceUntilAsync(Broker.DeleteTopicAsync(name, TestContext.Current.CancellationToken));
    }

    public Group GroupOf(string topic, int partition) =>
        Broker.GetTopic(topic).Partitions[partition].Groups().Single(g => g.Name == GroupName);

    void IStreamOwner.Schedule(OutputStream stream)
    {
        stream.BeginTurn();
        _scheduled.Release();
    }

    /// <summary>Publishes one batch whose messages' bodies are their offsets.</summary>
    public Task PublishAsync(int messages, int bodyBytes = 16) => PublishAsync(TopicName, 0, messages, bodyBytes);

    /// <inheritdoc cref="PublishAsync(int, int)"/>
    public async Task PublishAsync(string topic, uint partition, int messages, int bodyBytes = 16)
    {
        if (!_producers.TryGetValue((topic, partition), out InternalProducer? producer))
        {
            _producers[(topic, partition)] = producer = new InternalProducer(
                Broker,
                topic,
                Durability.Fsync,
                partition
            );
        }

        long end = Broker.GetTopic(topic).Partitions[(int)partition].Log.EndOffset;
        byte[] bytes = new byte[BatchLayout.HeaderSize + (messages * RecordWriter.SizeOf(bodyBytes)) + 8];
        byte[] body = new byte[bodyBytes];
        int at = BatchLayout.HeaderSize;
        for (int i = 0; i < messages; i++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(body, end + i);
            at += RecordWriter.Write(bytes.AsSpan(at), body);
        }
        await PublishAsync(producer, bytes, at - BatchLayout.HeaderSize, messages, end);
    }

    /// <summary>Publishes a message whose headers contradict themselves; the record around them does not.</summary>
    public async Task PublishMalformedHeadersAsync(string topic)
    {
        byte[] bytes = new byte[BatchLayout.HeaderSize + RecordWriter.SizeOf(0, headersLength: 3) + 8];
        int length = RecordWriter.Write(
            bytes.AsSpan(BatchLayout.HeaderSize),
            default,
            default,
            hasKey: false,
            [200, 1, 2]
        );
        using var producer = new InternalProducer(Broker, topic, Durability.Fsync);
        await PublishAsync(producer, bytes, length, 1, Broker.GetTopic(topic).Partitions[0].Log.EndOffset);
    }

    /// <summary>Publishes a batch whose header is right and whose records are not.</summary>
    public async Task PublishUnreadableAsync(int messages)
    {
        byte[] bytes = new byte[BatchLayout.HeaderSize + (messages * RecordLayout.FixedSize)];
        bytes.AsSpan(BatchLayout.HeaderSize).Fill(0x7F);
        using var producer = new InternalProducer(Broker, TopicName, Durability.Fsync);
        await PublishAsync(producer, bytes, bytes.Length - BatchLayout.HeaderSize, messages, Partition.Log.EndOffset);
    }

    public Subscription Join(
        uint maxInFlight = 0,
        StartKind start = StartKind.Committed,
        uint credit = 1 << 24,
        SettleMode mode = SettleMode.Explicit,
        TimeSpan lockDuration = default,
        uint atATime = 0
    ) =>
        Join(
            new SubscribeFrame(
                TopicName,
                0,
                GroupName,
                start,
                0,
                -1,
                0,
                0,
                mode,
                SlowPolicy.TopicDefault,
                maxInFlight,
                LockMilliseconds: (uint)lockDuration.TotalMilliseconds,
                AtATime: atATime
            ),
            credit
        );

    /// <summary>A member of any group.</summary>
    public Subscription JoinAs(
        string group,
        uint partition = 0,
        StartKind start = StartKind.Committed,
        SettleMode mode = SettleMode.Explicit
    ) =>
        Join(
            new SubscribeFrame(TopicName, partition, group, start, 0, -1, 0, 0, mode, SlowPolicy.TopicDefault, 0),
            1 << 24
        );

    /// <summary>One of the subscriptions of a consumer.</summary>
    public Subscription Join(string topic, uint partition, uint maxInFlight, uint consumer, uint atATime = 0) =>
        Join(
            new SubscribeFrame(
                topic,
                partition,
                GroupName,
                StartKind.Committed,
                0,
                -1,
                0,
                0,
                SettleMode.Explicit,
                SlowPolicy.TopicDefault,
                maxInFlight,
                consumer,
                AtATime: atATime
            ),
            1 << 24
        );

    /// <summary>Takes the next delivery and has it sent; default when there is none now.</summary>
    public GroupDelivery Take(Subscription member) => Take(member, out _, out _);

    /// <inheritdoc cref="Take(Subscription)"/>
    public GroupDelivery Take(string topic, int partition, Subscription member) =>
        Take(member, (ExplicitGroup)GroupOf(topic, partition), out _, out _);

    /// <inheritdoc cref="Take(Subscription)"/>
    public GroupDelivery Take(Subscription member, out Delivery delivery, out DeliveryResult result) =>
        Take(member, (ExplicitGroup)((GroupMember)member).Group, out delivery, out result);

    private GroupDelivery Take(
        Subscription member,
        ExplicitGroup group,
        out Delivery delivery,
        out DeliveryResult result
    )
    {
        while (true)
        {
            result = member.TryTake(out delivery);
            if (result == DeliveryResult.Run)
            {
                Assert.True(delivery.Run.Memory.IsEmpty || IsWithin(delivery));
                member.Sent(delivery.Run);
            }
            if (result != DeliveryResult.Nothing || !group.Figures().IsReading)
                return delivery.Range;
            Assert.True(_scheduled.Wait(Limit)); // For the disk.
        }
    }

    /// <summary>Takes all there is, as offsets.</summary>
    public List<long> TakeAll(Subscription member)
    {
        var offsets = new List<long>();
        while (Take(member) is { Count: > 0 } taken)
            offsets.AddRange(Offsets(taken));
        return offsets;
    }

    public static IEnumerable<long> Offsets(GroupDelivery taken) =>
        Enumerable.Range(0, (int)taken.Count).Select(i => taken.FirstOffset + i);

    public static SettleOutcome SettleAll(Subscription member, SettleKind kind, GroupDelivery taken, uint delay = 0) =>
        Settle(member, kind, taken, taken.FirstOffset, taken.Count, delay);

    public static SettleOutcome Settle(
        Subscription member,
        SettleKind kind,
        GroupDelivery taken,
        long first,
        uint count = 1,
        uint delay = 0,
        string reason = ""
    ) =>
        member.Settle(
            new SettleRange(kind, taken.DeliveryId, first, count, delay),
            System.Text.Encoding.UTF8.GetBytes(reason)
        );

    /// <summary>The member says goodbye.</summary>
    public static void Leave(Subscription member)
    {
        member.RequestClose(StreamClose.Ordinary);
        member.Release();
    }

    /// <summary>The member's connection is gone.</summary>
    public static void Lose(Subscription member) => member.Release();

    /// <summary>Stops and starts again. Members must have left.</summary>
    public async Task RestartAsync()
    {
        await StopAsync();
        await OpenBrokerAsync();
    }

    /// <summary>The data directory as it is now, as a kill would leave it.</summary>
    /// <returns>Where the copy is; the caller deletes it.</returns>
    public string CopyFiles()
    {
        string copy = Directory.CreateTempSubdirectory("lightq-groups-").FullName;
        foreach (string directory in Directory.GetDirectories(_directory, "*", SearchOption.AllDirectories))
            Directory.CreateDirectory(Path.Combine(copy, Path.GetRelativePath(_directory, directory)));
        foreach (
            string file in Directory
                .GetFiles(_directory, "*", SearchOption.AllDirectories)
                .Where(f => Path.GetFileName(f) != "LOCK")
        )
        {
            try
            {
                File.Copy(file, Path.Combine(copy, Path.GetRelativePath(_directory, file)));
            }
            catch (FileNotFoundException)
            {
                // It has got its lasting name meanwhile: the next look finds it.
            }
        }
        return copy;
    }

    /// <summary>The messages of a topic once there are so many.</summary>
    public async Task<List<(string Body, Dictionary<string, string> Headers)>> ReadAsync(string topic, int count)
    {
        long deadline = System.Environment.TickCount64 + (long)Limit.TotalMilliseconds;
        Topic? found;
        while (
            !Broker.TryGetTopic(topic, out found)
            || found.Partitions.IsEmpty
            || found.Partitions[0].Log.ReadableOffset < count
        )
        {
            Assert.True(System.Environment.TickCount64 < deadline, $"{topic} does not get {count} messages");
            await Task.Delay(5);
        }
        var messages = new List<(string, Dictionary<string, string>)>();
        for (long offset = 0; offset < count; )
        {
            (byte[]? batch, long end) = await LightQ.Broker.Logs.BatchFetch.ReadAsync(
                found.Partitions[0].Log,
                offset,
                CancellationToken.None
            );
            foreach (RecordView record in new BatchView(batch!).Records)
            {
                var headers = new Dictionary<string, string>();
                foreach (HeaderView header in record.Headers)
                {
                    headers.Add(
                        System.Text.Encoding.UTF8.GetString(header.Name),
                        System.Text.Encoding.UTF8.GetString(header.Value)
                    );
                }

                messages.Add(
                    (
                        record.Body.IsEmpty
                            ? ""
                            : BinaryPrimitives
                                .ReadInt64LittleEndian(record.Body)
                                .ToString(CultureInfo.InvariantCulture),
                        headers
                    )
                );
            }
            offset = end;
        }
        return messages;
    }

    /// <summary>Every message's body, as a broadcast subscriber gets them.</summary>
    public List<long> ReadAllBroadcast(string topic, int partition)
    {
        var request = new SubscribeFrame(
            topic,
            (uint)partition,
            "",
            StartKind.Earliest,
            0,
            -1,
            0,
            0,
            SettleMode.Automatic,
            SlowPolicy.TopicDefault,
            0,
            0
        );
        Subscription subscription = Join(request, 1 << 24);
        var bodies = new List<long>();
        while (bodies.Count < subscription.Partition.Log.ReadableOffset)
        {
            DeliveryResult result = subscription.TryTake(out Delivery delivery);
            if (result == DeliveryResult.Nothing)
            {
                Assert.True(_scheduled.Wait(Limit)); // For the disk.
                continue;
            }
            Assert.Equal(DeliveryResult.Run, result);
            foreach (BatchView batch in new BatchRun(delivery.Run.Memory.Span))
            {
                foreach (RecordView record in batch.Records)
                    bodies.Add(BinaryPrimitives.ReadInt64LittleEndian(record.Body));
            }
            subscription.Sent(delivery.Run);
        }
        subscription.Release();
        return bodies;
    }

    /// <summary>Where a topic's dead letters came from, in order.</summary>
    public async Task<List<(int Partition, long Offset)>> ReadDeadLettersAsync(string topic, int count)
    {
        List<(string Body, Dictionary<string, string> Headers)> letters = await ReadAsync(topic + ".dead", count);
        Assert.Equal(count, Broker.GetTopic(topic + ".dead").Partitions[0].Log.EndOffset);
        Assert.All(letters, l => Assert.Equal(l.Headers[DeadLetterHeader.Offset], l.Body));
        return
        [
            .. letters
                .Select(l =>
                    (
                        int.Parse(l.Headers[DeadLetterHeader.Partition], CultureInfo.InvariantCulture),
                        long.Parse(l.Body, CultureInfo.InvariantCulture)
                    )
                )
                .Order(),
        ];
    }

    /// <summary>Has a member ask for messages that must first be read from the disk.</summary>
    public void BeginRead(string topic, int partition, Subscription member)
    {
        Assert.Equal(DeliveryResult.Nothing, member.TryTake(out _));
        Assert.True(((ExplicitGroup)GroupOf(topic, partition)).Figures().IsReading);
    }

    /// <summary>Lets the clock go on until something is done that waits for it.</summary>
    public async Task AdvanceUntilAsync(Task done)
    {
        await EventuallyAsync(() =>
        {
            Time.Advance(TimeSpan.FromMilliseconds(100));
            return done.IsCompleted;
        });
        await done;
    }

    public static async Task EventuallyAsync(Func<bool> condition)
    {
        long deadline = System.Environment.TickCount64 + (long)Limit.TotalMilliseconds;
        while (!condition())
        {
            Assert.True(System.Environment.TickCount64 < deadline, "The condition does not come true.");
            await Task.Delay(2);
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (Subscription member in Broker.Topics.SelectMany(t => t.Partitions).SelectMany(p => p.Subscriptions))
            member.Release();
        await StopAsync();
        Directory.Delete(_directory, recursive: true);
        _scheduled.Dispose();
    }

    private Subscription Join(SubscribeFrame request, uint credit)
    {
        Subscription member = Broker.Subscribe(this, ++_lastStream, request, out _);
        member.Grant(credit);
        return member;
    }

    private static Task PublishAsync(
        InternalProducer producer,
        byte[] bytes,
        int recordBytes,
        int messages,
        long sequence
    )
    {
        int length = BatchWriter.Complete(
            bytes,
            recordBytes,
            messages,
            new BatchOrigin(0, 0, (ulong)sequence),
            timestamp: 1
        );
        return producer.PublishAsync(bytes.AsSpan(0, length), messages).WaitAsync(Limit);
    }

    private static bool IsWithin(in Delivery delivery)
    {
        var batch = new BatchView(delivery.Run.Memory.Span);
        return delivery.Range.FirstOffset >= batch.BaseOffset
            && delivery.Range.FirstOffset + delivery.Range.Count <= batch.NextOffset;
    }

    public async Task OpenBrokerAsync() =>
        Broker = await LightQBroker.OpenAsync(
            _directory,
            Options with
            {
                OpenEnvironment = o => Environment = new JournalEnvironment(o, _files),
            },
            Time
        );

    /// <summary>Members must have left.</summary>
    public async Task StopAsync()
    {
        foreach (InternalProducer producer in _producers.Values)
            producer.Dispose();
        _producers.Clear();
        await Broker.DisposeAsync();
    }
}

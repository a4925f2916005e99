using LightQ.Broker;
using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Scheduling;
using LightQ.Storage.Files;
using LightQ.Storage.Spilling;
using LightQ.Tests.Shared;

namespace LightQ.Tests.Broker;

/// <summary>One transient partition, driven by hand: no sockets, no threads.</summary>
public abstract class EngineTest : IStreamOwner, IAsyncDisposable
{
    private protected const int RingBytes = 64 * 1024;
    private protected const int Window = 16 * 1024;
    private readonly Queue<OutputStream> _scheduled = new();
    private readonly string _spillDirectory = Path.Combine(Path.GetTempPath(), $"lightq-spill-{Guid.NewGuid():N}");

    private protected EngineTest()
    {
        var settings = new TopicSettings { MaxMessageBytes = 1024 };
        var topic = new Topic("test", Guid.NewGuid(), TimeProvider.System.GetUtcNow(), settings);
        Partition = new Partition(topic, 0, Time);
        Log = new RingLog(RingBytes, 8 * 1024, 7, Partition.AppendLock);
        Partition.Log = Log;
        topic.Partitions = [Partition];
        Spills = OpenSpills(new SpillOptions());
    }

    uint IStreamOwner.ConnectionId => 1;

    private protected EngineTime Time { get; } = new();

    private protected Partition Partition { get; }

    private protected RingLog Log { get; }

    /// <summary>The disk behind <see cref="Spills"/>.</summary>
    private protected FaultyFileSystem Disk { get; } = new(PlatformFileSystem.Choose());

    /// <summary>Driven by hand with <see cref="SpillStore.RunOnce"/>: it has no thread.</summary>
    private protected SpillStore Spills { get; set; }

    /// <summary>Files of spills that exist now.</summary>
    private protected string[] SpillFiles =>
        Directory.Exists(_spillDirectory) ? Directory.GetFiles(_spillDirectory) : [];

    void IStreamOwner.Schedule(OutputStream stream) => _scheduled.Enqueue(stream);

    public async ValueTask DisposeAsync()
    {
        Spills.Dispose();
        await Log.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    private protected SpillStore OpenSpills(SpillOptions options, bool ownThread = false) =>
        new(_spillDirectory, Disk, options, ownThread);

    private protected static byte[] Batch(
        ulong sequence,
        int records,
        int bodyBytes = 100,
        ulong producerId = 0,
        uint epoch = 0
    )
    {
        byte[] bytes = new byte[BatchLayout.HeaderSize + (records * RecordWriter.SizeOf(bodyBytes)) + 8];
        byte[] body = new byte[bodyBytes];
        int at = BatchLayout.HeaderSize;
        for (int i = 0; i < records; i++)
        {
            body.AsSpan().Fill((byte)(sequence + (ulong)i));
            at += RecordWriter.Write(bytes.AsSpan(at), body);
        }
        int length = BatchWriter.Complete(
            bytes,
            at - BatchLayout.HeaderSize,
            records,
            new BatchOrigin(producerId, epoch, sequence),
            timestamp: 1
        );
        return bytes[..length];
    }

    private protected ProducerStream OpenProducer(
        uint id = 1,
        ProducerState? state = null,
        uint epoch = 0,
        Durability ackLevel = Durability.Memory,
        int window = Window,
        bool refusesAlone = false
    )
    {
        var producer = new ProducerStream(
            this,
            id,
            Partition,
            state,
            epoch,
            ackLevel,
            window,
            new PendingBudget(static () => new BrokerOptions(), new LimitRefusals()),
            refusesAlone
        );
        Partition.Attach(producer);
        return producer;
    }

    private protected ProducerState OpenNamed(uint epoch)
    {
        lock (Partition.AppendLock)
            return Partition.NamedProducers.Attach(42, epoch)!;
    }

    private protected Subscription Subscribe(
        StartKind start,
        long value = 0,
        SlowPolicy policy = SlowPolicy.Block,
        uint credit = 1 << 20,
        SettleMode settle = SettleMode.Automatic
    )
    {
        var request = new SubscribeFrame("test", 0, "", start, value, -1, 0, 0, settle, policy, 0);
        var subscription = new BroadcastSubscription(this, 100, Partition, request, policy, Spills);
        Partition.Attach(subscription);
        subscription.Opened();
        subscription.Grant(credit);
        return subscription;
    }

    private protected Subscription Join(
        AutomaticGroup group,
        StartKind start = StartKind.Earliest,
        uint credit = 1 << 20
    )
    {
        var member = new AutomaticMember(this, 100, Partition, group, start, 0);
        Partition.Attach(member);
        member.Grant(credit);
        return member;
    }

    /// <summary>Publishes in a turn of its own, as a connection does.</summary>
    private protected static bool Publish(ProducerStream producer, byte[] run)
    {
        using (TurnScope.Enter())
        {
            bool accepted = producer.Publish(run);
            producer.Flush();
            return accepted;
        }
    }

    /// <summary>Whether the stream asked for a turn to send; takes the request.</summary>
    private protected bool TakeTurn() => TakeNextTurn() is not null;

    /// <summary>The stream that asked first for a turn to send; takes the request.</summary>
    private protected OutputStream? TakeNextTurn()
    {
        _scheduled.TryDequeue(out OutputStream? stream);
        stream?.BeginTurn();
        return stream;
    }

    private protected static (AckRange[] Ranges, uint Credit) Output(ProducerStream producer)
    {
        Span<AckRange> ranges = stackalloc AckRange[16];
        PublishOutput output = producer.TakeOutput(ranges);
        return (ranges[..output.Ranges].ToArray(), output.Credit);
    }

    /// <summary>Takes one run and has it sent; null when there is nothing.</summary>
    private protected static byte[]? Receive(Subscription subscription)
    {
        using (TurnScope.Enter())
        {
            if (subscription.TryTake(out Delivery delivery) != DeliveryResult.Run)
                return null;
            byte[] bytes = delivery.Run.Memory.ToArray();
            subscription.Sent(delivery.Run);
            return bytes;
        }
    }

    private protected static List<long> ReceiveOffsets(Subscription subscription)
    {
        var offsets = new List<long>();
        while (Receive(subscription) is { } run)
        {
            foreach (BatchView batch in new BatchRun(run))
            {
                foreach (RecordView record in batch.Records)
                    offsets.Add(record.Offset);
            }
        }
        return offsets;
    }

    /// <summary>A clock that stands still until it is moved.</summary>
    private protected sealed class EngineTime : TimeProvider
    {
        private DateTimeOffset _now = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override DateTimeOffset GetUtcNow() => _now;

        public override long GetTimestamp() => _now.Ticks;

        public void Advance(TimeSpan by) => _now += by;
    }
}

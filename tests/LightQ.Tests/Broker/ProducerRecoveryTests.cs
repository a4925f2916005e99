using LightQ.Broker;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Scheduling;
using LightQ.Storage;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker;

/// <summary>
/// What a start makes of the producers that a log's headers name, when no snapshot says it: the broker ends unclean, so
/// its files are copied while it runs.
/// </summary>
public sealed class ProducerRecoveryTests : IStreamOwner, IDisposable
{
    private const uint EpochsNoted = 64;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-producers").FullName;
    private uint _lastStream;

    uint IStreamOwner.ConnectionId => 1;

    void IStreamOwner.Schedule(OutputStream stream) { }

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public async Task Only_producers_that_the_topic_has_given_an_id_and_epoch_are_believed()
    {
        ProducerOpenedFrame billing,
            elsewhere;
        await using (LightQBroker broker = await OpenAsync("before"))
        {
            Create(broker, "other");
            Open(broker, "other", "billing", out elsewhere);
            Partition partition = Create(broker, "orders").Partitions[0];
            ProducerStream producer = Open(broker, "orders", "billing", out billing);
            Publish(producer, new BatchOrigin(billing.ProducerId, billing.ProducerEpoch, 0), records: 2);
            // As a version before let anybody write them.
            Append(partition, new BatchOrigin(elsewhere.ProducerId, elsewhere.ProducerEpoch, 0));
            Append(partition, new BatchOrigin(99, 1, 0));
            Append(partition, new BatchOrigin(billing.ProducerId, EpochsNoted + 1, 2));
            Append(partition, new BatchOrigin(ulong.MaxValue, uint.MaxValue, ulong.MaxValue - 5));
            await DurableAsync(partition);
            CopyFiles("before", "after");
        }

        await using LightQBroker again = await OpenAsync("after");

        Partition recovered = again.GetTopic("orders").Partitions[0];
        Assert.Equal(6, recovered.Log.EndOffset);
        lock (recovered.AppendLock)
            Assert.Equal([billing.ProducerId], recovered.NamedProducers.Ids);
        ProducerStream back = Open(again, "orders", "billing", out ProducerOpenedFrame reopened);
        Assert.Equal((billing.ProducerId, 2UL), (reopened.ProducerId, reopened.NextSequence));
        Publish(back, new BatchOrigin(reopened.ProducerId, reopened.ProducerEpoch, 2), records: 1);
        Assert.Equal(7, recovered.Log.EndOffset);
    }

    private static Topic Create(LightQBroker broker, string name) =>
        broker.CreateTopic(
            name,
            new TopicSettings
            {
                Kind = TopicKind.Durable,
                MaxMessageBytes = 1024,
                SegmentBytes = 1 << 20,
                RingBytes = 1 << 19,
            }
        );

    private static void Publish(ProducerStream producer, BatchOrigin origin, int records)
    {
        using (TurnScope.Enter())
        {
            Assert.True(producer.Publish(Batch(origin, records)));
            producer.Flush();
        }
        Assert.Null(producer.CloseRequested);
    }

    private static void Append(Partition partition, BatchOrigin origin)
    {
        lock (partition.AppendLock)
        {
            Assert.Equal(
                AppendResult.Appended,
                partition.Append(new BatchView(Batch(origin, 1)), partition.NextAppendTime(), out _)
            );
        }
    }

    private static byte[] Batch(BatchOrigin origin, int records)
    {
        byte[] bytes = new byte[BatchLayout.HeaderSize + (records * RecordWriter.SizeOf(16))];
        int at = BatchLayout.HeaderSize;
        for (int i = 0; i < records; i++)
            at += RecordWriter.Write(bytes.AsSpan(at), new byte[16]);
        return bytes[..BatchWriter.Complete(bytes, at - BatchLayout.HeaderSize, records, origin, timestamp: 1)];
    }

    private static async Task DurableAsync(Partition partition)
    {
        partition.FlushAndWake();
        using var patience = new CancellationTokenSource(Patience);
        while (partition.Log.DurableOffset != partition.Log.EndOffset)
            await Task.Delay(1, patience.Token);
    }

    private Task<LightQBroker> OpenAsync(string name) =>
        LightQBroker.OpenAsync(Path.Combine(_directory, name), new BrokerOptions(), TimeProvider.System);

    private ProducerStream Open(LightQBroker broker, string topic, string name, out ProducerOpenedFrame opened) =>
        broker.OpenProducer(this, ++_lastStream, new OpenProducerFrame(topic, 0, Durability.Default, name), out opened);

    private void CopyFiles(string from, string to)
    {
        string source = Path.Combine(_directory, from);
        foreach (
            string file in Directory
                .EnumerateFiles(source, "*", SearchOption.AllDirectories)
                .Where(f => Path.GetFileName(f) != "LOCK")
        )
        {
            string copy = Path.Combine(_directory, to, Path.GetRelativePath(source, file));
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(file, copy);
        }
    }
}

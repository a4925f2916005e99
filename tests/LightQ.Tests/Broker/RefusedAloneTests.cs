using LightQ.Broker.Producers;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Broker;

/// <summary>What a partition does not take is refused alone, and the stream goes on behind it.</summary>
public sealed class RefusedAloneTests : EngineTest
{
    private const int TooLong = 70_000;

    [Fact]
    public void The_batches_around_one_that_is_refused_are_stored_in_their_order()
    {
        ProducerStream producer = OpenProducer(refusesAlone: true);
        Assert.True(
            Publish(producer, [.. Batch(0, 2), .. Delayed(2), .. Delayed(3), .. Batch(4, 1), .. Batch(5, 1, TooLong)])
        );
        (AckRange[] ranges, uint credit) = Output(producer);
        Assert.Equal(
            [
                new AckRange(0, 2, ErrorCode.None, 0),
                new AckRange(2, 2, ErrorCode.NotSupported, -1, IsAlone: true),
                new AckRange(4, 1, ErrorCode.None, 2),
                new AckRange(5, 1, ErrorCode.MessageTooLarge, -1, IsAlone: true),
            ],
            ranges
        );
        Assert.True(credit > TooLong);
        Assert.Null(producer.CloseRequested);
        Assert.True(Publish(producer, Batch(6, 1)));
        Assert.Equal([new AckRange(6, 1, ErrorCode.None, 3)], Output(producer).Ranges);
    }

    [Fact]
    public void A_client_that_does_not_know_of_it_gets_the_end_of_the_stream()
    {
        foreach (byte[] refused in (byte[][])[Delayed(1), Batch(1, 1, TooLong)])
        {
            ProducerStream producer = OpenProducer();
            Assert.True(Publish(producer, [.. Batch(0, 1), .. refused, .. Batch(2, 1)]));
            AckRange last = Output(producer).Ranges[^1];
            Assert.Equal((1ul, false), (last.FirstSequence, last.IsAlone));
            Assert.Equal(last.Error, producer.CloseRequested?.Code);
            Assert.NotEqual(ErrorCode.None, last.Error);
        }
    }

    [Fact]
    public void A_refused_batch_waits_behind_those_that_find_no_room()
    {
        Subscribe(StartKind.Earliest, credit: 0); // Holds the ring.
        ProducerStream producer = OpenProducer(window: 1 << 20, refusesAlone: true);
        ulong next = 0;
        for (; next < 80; next++)
            Assert.True(Publish(producer, Batch(next, 1, 1000)));
        Assert.True(Publish(producer, [.. Delayed(next), .. Batch(next + 1, 1)]));
        Assert.DoesNotContain(Output(producer).Ranges, range => range.Error != ErrorCode.None);
        Assert.Null(producer.CloseRequested);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void The_numbers_of_a_named_producer_go_on_over_it_also_when_all_is_sent_again(bool isForgotten)
    {
        ProducerState state = OpenNamed(1);
        ProducerStream producer = OpenProducer(1, state, 1, refusesAlone: true);
        byte[] run =
        [
            .. Delayed(0, 42, 1),
            .. Batch(1, 2, producerId: 42, epoch: 1),
            .. Delayed(3, 42, 1),
            .. Batch(4, 1, producerId: 42, epoch: 1),
        ];
        Assert.True(Publish(producer, run));
        AckRange[] first = Output(producer).Ranges;
        Assert.Equal(
            [ErrorCode.NotSupported, ErrorCode.None, ErrorCode.NotSupported, ErrorCode.None],
            first.Select(range => range.Error)
        );
        Assert.Equal(5ul, state.NextSequence);
        if (isForgotten)
        {
            // A start finds the numbers of what is stored, and holes.
            byte[] saved;
            lock (Partition.AppendLock)
                saved = Partition.NamedProducers.Save();
            var table = new ProducerTable();
            table.Load(saved, (_, _) => true);
            state = table.Attach(42, 1)!;
            Assert.Equal([1ul, 4ul], state.Batches.Select(batch => batch.Sequence));
        }
        ProducerStream again = OpenProducer(2, state, 1, refusesAlone: true);
        Assert.True(Publish(again, [.. run, .. Batch(5, 1, producerId: 42, epoch: 1)]));
        Assert.Equal([.. first, new AckRange(5, 1, ErrorCode.None, 3)], Merged(Output(again).Ranges));
        Assert.Null(again.CloseRequested);
        Assert.Equal(4, Log.EndOffset);
    }

    [Fact]
    public void Refused_behind_all_that_is_stored_its_numbers_are_given_anew_after_a_start()
    {
        ProducerState state = OpenNamed(1);
        ProducerStream producer = OpenProducer(1, state, 1, refusesAlone: true);
        Assert.True(Publish(producer, [.. Batch(0, 1, producerId: 42, epoch: 1), .. Delayed(1, 42, 1)]));
        var table = new ProducerTable();
        lock (Partition.AppendLock)
            table.Load(Partition.NamedProducers.Save(), (_, _) => true);
        Assert.Equal((2ul, 1ul), (state.NextSequence, table.Attach(42, 1)!.NextSequence));
    }

    /// <summary>The last range may be merged with the one before.</summary>
    private static AckRange[] Merged(AckRange[] ranges)
    {
        if (ranges is not [.., { Count: 2, FirstSequence: 4 } last])
            return ranges;
        return [.. ranges[..^1], last with { Count = 1 }, new AckRange(5, 1, ErrorCode.None, last.BaseOffset + 1)];
    }

    /// <summary>A batch that is due in an hour.</summary>
    private static byte[] Delayed(ulong sequence, ulong producerId = 0, uint epoch = 0)
    {
        var properties = new BatchProperties(
            UnixMicroseconds.From(TimeProvider.System.GetUtcNow().AddHours(1)),
            ExpiresAt: 0
        );
        byte[] bytes = new byte[properties.HeaderLength + RecordWriter.SizeOf(16) + BatchLayout.Alignment];
        int records = RecordWriter.Write(bytes.AsSpan(properties.HeaderLength), new byte[16]);
        int length = BatchWriter.Complete(
            bytes,
            records,
            1,
            records,
            BatchCodec.None,
            properties,
            new BatchOrigin(producerId, epoch, sequence),
            timestamp: 1
        );
        return bytes[..length];
    }
}

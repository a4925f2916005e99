using LightQ.Broker.Deduplication;
using LightQ.Broker.Logs;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using Xunit;

namespace LightQ.Tests.Broker;

public sealed class PublishTests : EngineTest
{
    [Fact]
    public void A_subscriber_gets_the_records_as_they_were_sent_with_offsets_from_zero()
    {
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(StartKind.Earliest);
        byte[] batch = Batch(0, 3);
        Assert.True(Publish(producer, batch));

        byte[] received = Receive(subscription)!;

        Assert.Equal(batch[BatchLayout.HeaderSize..], received[BatchLayout.HeaderSize..]);
        var view = new BatchView(received);
        Assert.True(view.VerifyHeader() && view.VerifyPayload());
        Assert.Equal(0, view.BaseOffset);
        Assert.Null(Receive(subscription));
    }

    [Fact]
    public void An_ack_gives_the_offset_and_merges_what_is_adjacent()
    {
        ProducerStream producer = OpenProducer();
        Publish(producer, [.. Batch(0, 3), .. Batch(3, 2)]);
        Publish(producer, Batch(5, 1));

        (AckRange[] ranges, uint credit) = Output(producer);

        Assert.Equal([new AckRange(0, 6, ErrorCode.None, 0)], ranges);
        Assert.Equal((uint)(Batch(0, 3).Length + Batch(3, 2).Length + Batch(5, 1).Length), credit);
    }

    [Fact]
    public void Batches_that_find_the_ring_full_wait_and_follow_in_order_when_there_is_room()
    {
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(StartKind.Earliest);
        ulong sequence = 0;
        uint outstanding = 0;
        while (outstanding <= Window / 2)
        {
            byte[] batch = Batch(sequence++, 1, 4000);
            outstanding += (uint)batch.Length;
            Assert.True(Publish(producer, batch));
            outstanding -= Output(producer).Credit;
        }

        Assert.NotEqual(0u, outstanding);
        Assert.Equal(Enumerable.Range(0, (int)sequence).Select(i => (long)i), ReceiveAll(subscription));
        Assert.Equal(outstanding, Output(producer).Credit);
    }

    [Fact]
    public void Credit_waits_for_the_acks_it_can_ride_with_but_never_with_much_of_the_window()
    {
        // Never reached in a ring: the acks stay outstanding.
        ProducerStream producer = OpenProducer(ackLevel: Durability.Fsync);
        byte[] small = Batch(0, 1, 100);
        Publish(producer, small);
        Assert.False(TakeTurn());

        uint owed = (uint)small.Length;
        for (ulong sequence = 1; owed < Window / 4; sequence++)
        {
            Assert.False(TakeTurn());
            byte[] batch = Batch(sequence, 1, 1000);
            Publish(producer, batch);
            owed += (uint)batch.Length;
        }
        Assert.True(TakeTurn());
        Assert.Equal(owed, Output(producer).Credit);
        Publish(producer, Batch(100, 1, 100));
        Assert.False(TakeTurn());
    }

    [Fact]
    public void More_than_the_window_is_refused()
    {
        ProducerStream producer = OpenProducer();
        Subscribe(StartKind.Earliest);
        bool accepted = true;
        for (ulong i = 0; i < 100 && accepted; i++)
            accepted = Publish(producer, Batch(i, 1, 4000));
        Assert.False(accepted);
    }

    [Fact]
    public void A_full_topic_does_not_lose_what_waits_when_the_consumer_leaves()
    {
        ProducerStream producer = OpenProducer();
        Subscription stuck = Subscribe(StartKind.Earliest);
        ulong sequence = 0;
        uint owed = 0;
        while (owed == 0)
        {
            byte[] batch = Batch(sequence++, 1, 4000);
            Publish(producer, batch);
            owed = (uint)batch.Length - Output(producer).Credit;
        }

        using (TurnScope.Enter())
            stuck.Release();

        Assert.Equal((long)sequence, Log.EndOffset);
    }

    [Fact]
    public void A_malformed_batch_breaks_the_stream_behind_what_was_good()
    {
        ProducerStream producer = OpenProducer();
        byte[] bad = Batch(1, 1);
        bad[BatchLayout.RecordCount]++;

        Publish(producer, [.. Batch(0, 1), .. bad]);
        Publish(producer, Batch(2, 1));

        (AckRange[] ranges, _) = Output(producer);
        Assert.Equal(new AckRange(0, 1, ErrorCode.None, 0), ranges[0]);
        Assert.Equal(ErrorCode.MalformedBatch, ranges[1].Error);
        Assert.Equal(ErrorCode.MalformedBatch, producer.CloseRequested?.Code);
        Assert.Equal(1, Log.EndOffset);
    }

    [Theory]
    [InlineData(BatchLayout.HeaderSize)]
    [InlineData(BatchLayout.HeaderSize + 150)]
    [InlineData(BatchLayout.HeaderSize + 2 * 108 - 1)]
    public void A_batch_whose_payload_is_not_what_its_checksum_says_is_refused_and_harms_no_other_producer(int damaged)
    {
        ProducerStream producer = OpenProducer(1),
            other = OpenProducer(2);
        byte[] bad = Batch(1, 2);
        bad[damaged] ^= 0x10;

        Publish(producer, [.. Batch(0, 1), .. bad, .. Batch(3, 1)]);
        Publish(other, Batch(0, 1));

        Assert.Equal(
            [new AckRange(0, 1, ErrorCode.None, 0), new AckRange(1, 2, ErrorCode.MalformedBatch, -1)],
            Output(producer).Ranges
        );
        Assert.Equal(ErrorCode.MalformedBatch, producer.CloseRequested?.Code);
        Assert.Contains("checksum", producer.CloseRequested?.Message, StringComparison.Ordinal);
        Assert.Equal([new AckRange(0, 1, ErrorCode.None, 1)], Output(other).Ranges);
        Assert.Equal(2, Log.EndOffset);
    }

    [Theory]
    [InlineData(42, 0)]
    [InlineData(42, 1)]
    [InlineData(0, 1)]
    public void An_anonymous_producer_cannot_speak_for_a_named_one(ulong producerId, uint epoch)
    {
        ProducerStream named = OpenProducer(1, OpenNamed(1), epoch: 1),
            anonymous = OpenProducer(2);
        Publish(named, Batch(0, 1, producerId: 42, epoch: 1));

        Publish(anonymous, [.. Batch(0, 1), .. Batch(1, 30, producerId: producerId, epoch: epoch)]);
        Publish(named, Batch(1, 1, producerId: 42, epoch: 1));

        Assert.Equal(
            [new AckRange(0, 1, ErrorCode.None, 1), new AckRange(1, 30, ErrorCode.MalformedBatch, -1)],
            Output(anonymous).Ranges
        );
        Assert.Equal(ErrorCode.MalformedBatch, anonymous.CloseRequested?.Code);
        Assert.Contains("producer id and epoch", anonymous.CloseRequested?.Message, StringComparison.Ordinal);
        Assert.Equal(
            [new AckRange(0, 1, ErrorCode.None, 0), new AckRange(1, 1, ErrorCode.None, 2)],
            Output(named).Ranges
        );
    }

    [Theory]
    [InlineData(0, 0, ErrorCode.MalformedBatch)]
    [InlineData(43, 2, ErrorCode.MalformedBatch)]
    [InlineData(42, 1, ErrorCode.Fenced)]
    [InlineData(42, 3, ErrorCode.UnknownProducer)]
    public void A_named_producers_batches_carry_its_id_and_epoch(ulong producerId, uint epoch, ErrorCode expected)
    {
        ProducerStream producer = OpenProducer(state: OpenNamed(2), epoch: 2);

        Publish(producer, Batch(0, 1, producerId: producerId, epoch: epoch));

        Assert.Equal([new AckRange(0, 1, expected, -1)], Output(producer).Ranges);
        Assert.Equal(0, Log.EndOffset);
    }

    [Fact]
    public void A_named_producers_duplicate_is_acknowledged_with_its_first_offset_and_not_stored_again()
    {
        ProducerStream producer = OpenProducer(state: OpenNamed(1), epoch: 1);
        Publish(producer, Batch(0, 2, producerId: 42, epoch: 1));
        Publish(producer, Batch(2, 2, producerId: 42, epoch: 1));
        Output(producer);

        Publish(producer, Batch(0, 2, producerId: 42, epoch: 1));

        Assert.Equal([new AckRange(0, 2, ErrorCode.None, 0)], Output(producer).Ranges);
        Assert.Equal(4, Log.EndOffset);
    }

    [Theory]
    [InlineData(0UL, 3, ErrorCode.SequenceOverlap)]
    [InlineData(1UL, 1, ErrorCode.SequenceOverlap)]
    [InlineData(3UL, 1, ErrorCode.OutOfOrder)]
    public void A_named_producers_overlap_or_jump_is_refused(ulong sequence, int records, ErrorCode expected)
    {
        ProducerStream producer = OpenProducer(state: OpenNamed(1), epoch: 1);
        Publish(producer, Batch(0, 2, producerId: 42, epoch: 1));
        Output(producer);

        Publish(producer, Batch(sequence, records, producerId: 42, epoch: 1));

        Assert.Equal(expected, Output(producer).Ranges.Single().Error);
        Assert.Equal(2, Log.EndOffset);
    }

    [Fact]
    public void Other_bytes_under_numbers_that_are_stored_are_refused()
    {
        ProducerStream producer = OpenProducer(state: OpenNamed(1), epoch: 1);
        Publish(producer, Batch(0, 2, producerId: 42, epoch: 1));
        Publish(producer, Batch(2, 1, producerId: 42, epoch: 1));
        Publish(producer, Batch(0, 2, producerId: 42, epoch: 1));
        Output(producer);

        Publish(producer, Batch(0, 2, bodyBytes: 99, producerId: 42, epoch: 1));

        Assert.Equal([new AckRange(0, 2, ErrorCode.SequenceOverlap, -1)], Output(producer).Ranges);
        Assert.Contains("not the same in count and bytes", producer.CloseRequested?.Message, StringComparison.Ordinal);
        Assert.Equal(3, Log.EndOffset);
    }

    [Fact]
    public void A_stream_that_broke_ends_behind_the_acks_of_what_is_stored_or_when_these_never_come()
    {
        ProducerStream producer = OpenProducer(ackLevel: Durability.Fsync); // Never reached in a ring.
        byte[] bad = Batch(1, 1);
        bad[^1] ^= 1;
        Publish(producer, [.. Batch(0, 1), .. bad]);
        Assert.Empty(Output(producer).Ranges);
        Assert.Null(producer.CloseRequested);

        Partition.OnFailed("the disk is gone");

        Assert.Equal(ErrorCode.MalformedBatch, producer.CloseRequested?.Code);
        Assert.Equal(1, Log.EndOffset);
    }

    [Fact]
    public void A_refused_batch_ends_the_stream_when_what_waits_in_front_of_it_is_stored()
    {
        ProducerStream producer = OpenProducer(window: 1 << 20);
        Subscription subscription = Subscribe(StartKind.Earliest);
        ulong sequence = 0;
        for (uint owed = 0; owed == 0; )
        {
            byte[] batch = Batch(sequence++, 1, 4000);
            Publish(producer, batch);
            owed = (uint)batch.Length - Output(producer).Credit;
        }
        byte[] bad = Batch(sequence, 1);
        bad[^1] ^= 1;

        Publish(producer, bad);
        Publish(producer, Batch(sequence + 1, 1)); // Behind it nothing is taken.

        Assert.Null(producer.CloseRequested);
        Assert.Equal((int)sequence, ReceiveAll(subscription).Count);
        (AckRange[] ranges, _) = Output(producer);
        Assert.Equal(new AckRange(sequence, 1, ErrorCode.MalformedBatch, -1), ranges[^1]);
        Assert.Equal(ErrorCode.MalformedBatch, producer.CloseRequested?.Code);
        Assert.Equal((long)sequence, Log.EndOffset);
    }

    [Fact]
    public void An_older_epoch_is_fenced()
    {
        ProducerStream old = OpenProducer(1, OpenNamed(1), 1);
        Publish(old, Batch(0, 1, producerId: 42, epoch: 1));
        ProducerStream young = OpenProducer(2, OpenNamed(2), 2);

        Publish(old, Batch(1, 1, producerId: 42, epoch: 1));
        Publish(young, Batch(1, 1, producerId: 42, epoch: 2));

        Assert.Equal(ErrorCode.Fenced, old.CloseRequested?.Code);
        Assert.Equal([new AckRange(1, 1, ErrorCode.None, 1)], Output(young).Ranges);
    }

    [Fact]
    public void Producer_states_survive_being_saved()
    {
        ProducerState state = OpenNamed(3);
        for (ulong i = 0; i < 5; i++)
            state.Remember(new ProducerState.Remembered(i * 2, (long)i * 10, 2, (uint)i), 99);
        var restored = new ProducerTable();
        restored.Load(Partition.NamedProducers.Save(), static (_, _) => true);

        ProducerState found = restored.Find(42)!;

        Assert.Equal((3u, 10UL, 99L), (found.Epoch, found.NextSequence, found.LastAppend));
        Assert.Equal(state.Batches, found.Batches);
    }

    [Fact]
    public void States_that_an_earlier_version_saved_are_read_and_have_no_checksums()
    {
        byte[] saved =
        [
            42,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            3,
            0,
            0,
            0,
            99,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            2,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            2,
            0,
            0,
            0,
            10,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            2,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            12,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        var restored = new ProducerTable();
        restored.Load(saved, static (_, _) => true);
        restored
            .Open(42, 3)
            .Remember(new ProducerState.Remembered(3, 13, 1, new BatchView(Batch(3, 1)).PayloadCrc), 100);
        var again = new ProducerTable();
        again.Load(restored.Save(), static (_, _) => true);

        foreach (ProducerState state in (ProducerState[])[restored.Find(42)!, again.Find(42)!])
        {
            Assert.Equal((3u, 4UL, 100L), (state.Epoch, state.NextSequence, state.LastAppend));
            Assert.Equal((ErrorCode.None, 10L), Check(state, Batch(0, 2, producerId: 42, epoch: 3)));
            // Nobody can tell.
            Assert.Equal((ErrorCode.None, 10L), Check(state, Batch(0, 2, bodyBytes: 7, producerId: 42, epoch: 3)));
            Assert.Equal((ErrorCode.SequenceOverlap, -1L), Check(state, Batch(0, 1, producerId: 42, epoch: 3)));
            Assert.Equal((ErrorCode.None, 13L), Check(state, Batch(3, 1, producerId: 42, epoch: 3)));
            Assert.Equal(
                (ErrorCode.SequenceOverlap, -1L),
                Check(state, Batch(3, 1, bodyBytes: 7, producerId: 42, epoch: 3))
            );
        }

        static (ErrorCode, long) Check(ProducerState state, byte[] batch) =>
            (state.Check(new BatchView(batch), out StoredBatch stored), stored.Offset);
    }

    [Fact]
    public void Saved_states_of_producers_that_nobody_knows_are_passed_over()
    {
        var saved = new ProducerTable();
        saved.Open(41, 1).Remember(new ProducerState.Remembered(0, 0, 3, 0), 99);
        saved.Open(42, 5).Remember(new ProducerState.Remembered(0, 3, 2, 0), 99);
        saved.Open(43, 6).Remember(new ProducerState.Remembered(0, 5, 7, 0), 99);
        var restored = new ProducerTable();

        restored.Load(saved.Save(), (id, epoch) => id != 41 && epoch <= 5);

        Assert.Equal([42UL], restored.Ids);
        Assert.Equal((5u, 2UL), (restored.Find(42)!.Epoch, restored.Find(42)!.NextSequence));
    }

    private static List<long> ReceiveAll(Subscription subscription)
    {
        var all = new List<long>();
        for (List<long> some = ReceiveOffsets(subscription); some.Count != 0; some = ReceiveOffsets(subscription))
            all.AddRange(some);
        return all;
    }

    [Fact]
    public void A_stream_that_opens_while_its_partition_ends_is_ended_too_and_refuses_nothing_for_good()
    {
        var end = new StreamClose(ErrorCode.NotLeader, "another node leads it");
        Partition.CloseAll(end);
        Partition.Log = new RefusedLog(new PartitionRefusal(ErrorCode.TopicFailed, "closed", "closed"));

        ProducerStream producer = OpenProducer();
        Assert.Equal(end, producer.CloseRequested);
        Publish(producer, Batch(0, 1));
        Assert.Empty(Output(producer).Ranges);

        Partition.Log = Log;
        Assert.Equal(end, Subscribe(StartKind.Earliest).CloseRequested);
    }
}

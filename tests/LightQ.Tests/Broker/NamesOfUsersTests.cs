using LightQ.Broker;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Scheduling;
using LightQ.Tests.Broker.Groups;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker;

/// <summary>
/// Who may publish to a topic cannot stop what another user publishes there: names of producers and ids of messages are
/// each user's own.
/// </summary>
public sealed class NamesOfUsersTests : IDisposable
{
    private const uint Nobody = UserNumber.None,
        Alice = 1000,
        Mallory = 2000;
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-names").FullName;
    private readonly ManualTime _time = new();
    private uint _lastStream;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Theory]
    [InlineData(TopicKind.Transient, "", "")]
    [InlineData(TopicKind.Durable, "", "")]
    [InlineData(TopicKind.Durable, "p", "")]
    [InlineData(TopicKind.Durable, "", "p")]
    [InlineData(TopicKind.Durable, "p", "p")]
    public async Task An_id_that_another_user_has_published_makes_no_duplicate(
        TopicKind kind,
        string mallorysProducer,
        string alicesProducer
    )
    {
        await using (LightQBroker broker = await OpenAsync())
        {
            Create(broker, kind);
            Assert.Equal((0, false), await PublishAsync(broker, Mallory, mallorysProducer, "payment"));
            Assert.Equal((1, false), await PublishAsync(broker, Alice, alicesProducer, "payment"));
            Assert.Equal((1, true), await PublishAsync(broker, Alice, "", "payment"));
            Assert.Equal((0, true), await PublishAsync(broker, Mallory, "", "payment"));
        }
        if (kind == TopicKind.Transient)
            return;
        // A start finds in the log whose each id is.
        await using LightQBroker again = await OpenAsync();
        Assert.Equal((1, true), await PublishAsync(again, Alice, alicesProducer, "payment"));
        Assert.Equal((0, true), await PublishAsync(again, Mallory, mallorysProducer, "payment"));
        Assert.Equal((2, false), await PublishAsync(again, Mallory + 1, "", "payment"));
    }

    [Fact]
    public async Task The_id_of_a_message_for_later_is_its_users()
    {
        await using (LightQBroker broker = await OpenAsync())
        {
            Create(broker, TopicKind.Durable);
            DateTimeOffset due = _time.GetUtcNow() + TimeSpan.FromHours(1);
            Assert.Equal((0, false), await PublishAsync(broker, Mallory, "", "a", due));
            Assert.Equal((1, false), await PublishAsync(broker, Alice, "", "a", due));
            Assert.Equal((1, true), await PublishAsync(broker, Alice, "", "a"));
        }
        await using LightQBroker again = await OpenAsync();
        Assert.Equal((1, true), await PublishAsync(again, Alice, "", "a"));
        Assert.Equal((0, true), await PublishAsync(again, Mallory, "", "a"));
    }

    [Fact]
    public async Task An_id_that_nobody_in_particular_has_published_counts_for_all()
    {
        await using (LightQBroker broker = await OpenAsync())
        {
            Create(broker, TopicKind.Durable);
            Assert.Equal((0, false), await PublishAsync(broker, Nobody, "", "a"));
            Assert.Equal((0, true), await PublishAsync(broker, Nobody, "p", "a"));
        }
        await using LightQBroker again = await OpenAsync();
        Assert.Equal((0, true), await PublishAsync(again, Alice, "", "a"));
        Assert.Equal((0, true), await PublishAsync(again, Nobody, "", "a"));
        Assert.Equal((1, false), await PublishAsync(again, Alice, "", "b"));
        Assert.Equal((2, false), await PublishAsync(again, Nobody, "", "b"));
    }

    [Fact]
    public async Task A_producer_of_another_users_name_ends_nothing_and_knows_nothing()
    {
        ulong alices;
        await using (LightQBroker broker = await OpenAsync())
        {
            Create(broker, TopicKind.Durable);
            ProducerStream alice = Open(broker, Alice, "billing", out ProducerOpenedFrame opened, instance: 1);
            alices = opened.ProducerId;
            await PublishAsync(alice, opened, sequence: 0);
            ProducerStream mallory = Open(broker, Mallory, "billing", out ProducerOpenedFrame others, instance: 2);
            Assert.NotEqual(opened.ProducerId, others.ProducerId);
            Assert.Equal(0ul, others.NextSequence);
            await PublishAsync(mallory, others, sequence: 0);
            await PublishAsync(alice, opened, sequence: 1);
            Assert.Null(alice.CloseRequested);

            // The same user takes its name over, as before.
            Open(broker, Alice, "billing", out _, instance: 3);
            Publish(alice, Batch(opened, 2, null));
            await GroupHost.EventuallyAsync(() => alice.CloseRequested is not null);
            Assert.Equal(ErrorCode.Fenced, alice.CloseRequested!.Code);
        }
        await using LightQBroker again = await OpenAsync();
        Open(again, Mallory, "billing", out ProducerOpenedFrame back, instance: 2);
        Assert.Equal(1ul, back.NextSequence);
        Open(again, Alice, "billing", out back, instance: 3);
        Assert.Equal((alices, 2ul), (back.ProducerId, back.NextSequence));
    }

    [Fact]
    public async Task A_name_that_is_nobodys_goes_with_what_is_remembered_of_it_to_the_user_that_opens_it()
    {
        ulong id;
        await using (LightQBroker broker = await OpenAsync())
        {
            Create(broker, TopicKind.Durable);
            ProducerStream before = Open(broker, Nobody, "billing", out ProducerOpenedFrame opened);
            id = opened.ProducerId;
            Assert.Equal(1ul, id);
            await PublishAsync(before, opened, sequence: 0);
        }
        await using (LightQBroker broker = await OpenAsync())
        {
            ProducerStream alice = Open(broker, Alice, "billing", out ProducerOpenedFrame opened);
            Assert.Equal((id, 1ul), (opened.ProducerId, opened.NextSequence));
            Open(broker, Mallory, "billing", out ProducerOpenedFrame others);
            Assert.NotEqual(id, others.ProducerId);
            Publish(alice, Batch(opened, 1, "a"));
            Assert.Equal((1, false), await AckAsync(alice));
        }
        // The id of the producer is an earlier one: the catalog says whose it is.
        await using LightQBroker again = await OpenAsync();
        Assert.Equal((2, false), await PublishAsync(again, Mallory, "", "a"));
        Assert.Equal((1, true), await PublishAsync(again, Alice, "", "a"));
    }

    [Fact]
    public async Task Ids_stay_their_users_when_the_name_that_published_them_is_forgotten()
    {
        await using (LightQBroker broker = await OpenAsync(new BrokerOptions { MaxNamedProducersPerTopic = 1 }))
        {
            Create(broker, TopicKind.Durable, window: TimeSpan.FromDays(7));
            ProducerStream mallory = Open(broker, Mallory, "gone", out ProducerOpenedFrame opened);
            Publish(mallory, Batch(opened, 0, "a"));
            Assert.Equal((0, false), await AckAsync(mallory));
            mallory.Release();
            await GroupHost.EventuallyAsync(() =>
            {
                _time.Advance(TimeSpan.FromHours(1));
                return broker.GetTopic("t").RememberedProducers().Count == 0;
            });
            Open(broker, Alice, "new", out _);
        }
        await using LightQBroker again = await OpenAsync();
        Assert.Equal((1, false), await PublishAsync(again, Alice, "", "a"));
        Assert.Equal((0, true), await PublishAsync(again, Mallory, "", "a"));
    }

    [Theory]
    [InlineData(TopicKind.Transient)]
    [InlineData(TopicKind.Durable)]
    public async Task A_topic_can_have_one_space_of_names_and_ids_for_all_users(TopicKind kind)
    {
        await using LightQBroker broker = await OpenAsync();
        Topic topic = Create(broker, kind).Topic;
        Assert.Equal((0, false), await PublishAsync(broker, Alice, "billing", "a"));
        Open(broker, Alice, "billing", out ProducerOpenedFrame alices);

        await broker.ChangeSettingsAsync(topic, topic.Settings with { SharedNames = true });
        Assert.Equal((0, true), await PublishAsync(broker, Mallory, "", "a"));
        Open(broker, Mallory, "billing", out ProducerOpenedFrame shared);
        Assert.Equal((alices.ProducerId, 1ul), (shared.ProducerId, shared.NextSequence));
        Assert.Equal((1, false), await PublishAsync(broker, Alice, "", "b"));
        Assert.Equal((1, true), await PublishAsync(broker, Mallory, "", "b"));

        await broker.ChangeSettingsAsync(topic, topic.Settings with { SharedNames = false });
        Assert.Equal((2, false), await PublishAsync(broker, Mallory, "", "b"));
        Assert.Equal((1, true), await PublishAsync(broker, Alice, "", "b"));
        Open(broker, Alice, "billing", out ProducerOpenedFrame back);
        Open(broker, Mallory, "billing", out ProducerOpenedFrame others);
        Assert.Equal(alices.ProducerId, back.ProducerId);
        Assert.NotEqual(alices.ProducerId, others.ProducerId);
    }

    [Fact]
    public async Task A_user_has_as_many_delayed_batches_as_it_leaves_to_others()
    {
        await using LightQBroker broker = await OpenAsync(new BrokerOptions { MaxDelayedBatches = 4 });
        Partition partition = Create(broker, TopicKind.Durable);
        DateTimeOffset due = _time.GetUtcNow() + TimeSpan.FromHours(1);
        ProducerStream mallory = Open(broker, Mallory, "", out ProducerOpenedFrame opened);
        for (ulong i = 0; i < 3; i++)
            Publish(mallory, Batch(opened, i, $"m{i}", due));
        await GroupHost.EventuallyAsync(() =>
            mallory.TakeOutput(new AckRange[4]).Ranges >= 0 && mallory.CloseRequested is not null
        );
        Assert.Equal(ErrorCode.ResourceExhausted, mallory.CloseRequested!.Code);
        Assert.Contains(
            "The user has 2 of 2 delayed batches",
            mallory.CloseRequested.Message,
            StringComparison.Ordinal
        );
        await PublishAsync(broker, Alice, "", "a", due);
        Assert.Equal(3, partition.DelayedMessages);
        await GroupHost.EventuallyAsync(() =>
        {
            _time.Advance(TimeSpan.FromHours(1));
            return partition.DelayedMessages == 0;
        });
        await PublishAsync(broker, Mallory, "", "m3", _time.GetUtcNow() + TimeSpan.FromHours(1));
    }

    [Fact]
    public void A_user_has_as_many_bytes_that_wait_for_room_as_it_leaves_to_others()
    {
        var refusals = new LimitRefusals();
        var options = new BrokerOptions { MaxPendingBytes = 100 };
        var budget = new PendingBudget(() => options, refusals);
        Assert.True(budget.TryTake(Mallory, 60, out _)); // The first needs nothing but room.
        Assert.False(budget.TryTake(Mallory, 10, out string reason));
        Assert.Contains("The user has 60 of 60 bytes", reason, StringComparison.Ordinal);
        Assert.True(budget.TryTake(Alice, 20, out _));
        Assert.False(budget.TryTake(Alice, 20, out _));
        Assert.True(budget.TryTake(Nobody, 20, out _));
        Assert.False(budget.TryTake(Alice + 1, 1, out reason));
        Assert.Contains("keeps no more batches", reason, StringComparison.Ordinal);
        budget.Give(Mallory, 60);
        options = options with { MaxSharePercent = 100 }; // Nothing is kept for others.
        Assert.True(budget.TryTake(Mallory, 60, out _));
        Assert.Equal((100, 3), (budget.Used, refusals[nameof(BrokerOptions.MaxPendingBytes)]));
    }

    [Fact]
    public async Task A_user_made_again_is_another_and_no_two_users_have_one_number()
    {
        await using LightQBroker broker = await OpenAsync();
        uint first = UserNumber.Of(broker.Users.Create("alice", "").Id);
        broker.Users.Delete("alice");
        uint second = UserNumber.Of(broker.Users.Create("alice", "").Id);
        Assert.NotEqual(first, second);
        Assert.True(broker.Users.Table.HasNumber(second));
        Assert.False(broker.Users.Table.HasNumber(first));
        Assert.True(UserNumber.Of(Guid.Empty) > UserNumber.TopicUser);
    }

    private static Partition Create(LightQBroker broker, TopicKind kind, TimeSpan? window = null) =>
        broker
            .CreateTopic(
                "t",
                new TopicSettings
                {
                    Kind = kind,
                    MaxMessageBytes = 1024,
                    SegmentBytes = 1 << 19,
                    RingBytes = 1 << 19,
                    DedupWindow = window ?? TimeSpan.FromDays(1),
                }
            )
            .Partitions[0];

    private static byte[] Batch(ProducerOpenedFrame opened, ulong sequence, string? id, DateTimeOffset? dueAt = null)
    {
        var properties = new BatchProperties(dueAt is { } due ? UnixMicroseconds.From(due) : 0, 0, id);
        byte[] body = BitConverter.GetBytes(sequence);
        byte[] bytes = new byte[properties.HeaderLength + RecordWriter.SizeOf(body.Length) + 8];
        int length = RecordWriter.Write(bytes.AsSpan(properties.HeaderLength), body);
        var origin = new BatchOrigin(opened.ProducerId, opened.ProducerEpoch, sequence);
        return bytes[
            ..BatchWriter.Complete(bytes, length, 1, length, BatchCodec.None, properties, origin, timestamp: 1)
        ];
    }

    private static void Publish(ProducerStream producer, byte[] batch)
    {
        using (TurnScope.Enter())
        {
            Assert.True(producer.Publish(batch));
            producer.Flush();
        }
    }

    private static async Task PublishAsync(ProducerStream producer, ProducerOpenedFrame opened, ulong sequence)
    {
        Publish(producer, Batch(opened, sequence, null));
        await AckAsync(producer);
    }

    private static async Task<(long Offset, bool IsDuplicate)> AckAsync(ProducerStream producer)
    {
        AckRange[] ranges = new AckRange[2];
        await GroupHost.EventuallyAsync(() => producer.TakeOutput(ranges).Ranges != 0);
        Assert.Equal(ErrorCode.None, ranges[0].Error);
        return (ranges[0].BaseOffset, ranges[0].IsDuplicate);
    }

    /// <summary>One message of a user, by a producer that is opened for it.</summary>
    private async Task<(long Offset, bool IsDuplicate)> PublishAsync(
        LightQBroker broker,
        uint user,
        string producer,
        string id,
        DateTimeOffset? dueAt = null
    )
    {
        ProducerStream stream = Open(broker, user, producer, out ProducerOpenedFrame opened);
        Publish(stream, Batch(opened, opened.NextSequence, id, dueAt));
        (long, bool) ack = await AckAsync(stream);
        stream.Release();
        return ack;
    }

    private ProducerStream Open(
        LightQBroker broker,
        uint user,
        string producer,
        out ProducerOpenedFrame opened,
        ulong instance = 1
    ) =>
        broker.OpenProducer(
            new Owner(user),
            ++_lastStream,
            new OpenProducerFrame("t", 0, Durability.Default, producer, instance),
            out opened
        );

    private Task<LightQBroker> OpenAsync(BrokerOptions? options = null) =>
        LightQBroker.OpenAsync(Path.Combine(_directory, "a"), options ?? new BrokerOptions(), _time);

    private sealed class Owner(uint user) : IStreamOwner
    {
        public uint ConnectionId => 1;

        public uint User => user;

        public void Schedule(OutputStream stream)
        {
            // The test takes what there is.
        }
    }
}

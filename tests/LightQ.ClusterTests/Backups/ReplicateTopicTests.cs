using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.ClusterTests.Members;
using LightQ.Protocol.Batches;
using LightQ.Server;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.ClusterTests.Backups;

/// <summary>Durable topics that get replicas, with all that they hold.</summary>
public sealed class ReplicateTopicTests : IAsyncLifetime
{
    private const int Messages = 400,
        Taken = 240;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);
    private ForwardingCluster _cluster = null!;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync() => _cluster = await ForwardingCluster.StartAsync();

    public ValueTask DisposeAsync() => _cluster.DisposeAsync();

    [Fact]
    public async Task A_topic_keeps_its_messages_groups_and_producers_and_any_node_leads_it()
    {
        Topic made = await CreateAsync("orders", partitions: 3);
        await using LightQClient atA = TopicContents.Connect(_cluster.A),
            atB = TopicContents.Connect(_cluster.B);
        await TopicContents.PublishAsync(atA, "orders", 0, Messages);
        _cluster.A.Broker.TruncateTopic("orders", 0, 20);
        int left = Messages - (int)made.Partitions[0].Log.StartOffset;
        List<int> taken = await TopicContents.WorkAsync(atA, "orders", Taken);
        SortedDictionary<(int, long), string> before = await TopicContents.ReadAsync(atA, "orders", left);

        await ReplicateAsync(atB, "orders"); // It is passed on to the node that has the messages.
        foreach (LightQServer node in new[] { _cluster.A, _cluster.B })
        {
            Topic known = node.Broker.GetTopic("orders");
            Assert.Equal((made.Id, 3u), (known.Id, known.Settings.Replicas));
        }
        await TopicContents.LedAsync("orders", _cluster.A, _cluster.B);
        // The one that had nothing of it leads all, and has everything.
        for (uint i = 0; i < 3; i++)
            await _cluster.LeadAsync("orders", i, "b");
        Assert.Equal(before, await TopicContents.ReadAsync(atB, "orders", left));
        int[] open = [.. before.Values.Select(NumberOf).Except(taken.Where(i => i % 2 == 0)).Order()];
        List<int> again = await TopicContents.WorkAsync(atB, "orders", open.Length);
        Assert.Equal(open, again.Order());
        ulong[] producers = [.. _cluster.B.Broker.GetTopic("orders").Partitions.SelectMany(p => p.NamedProducers.Ids)];
        Assert.Single(producers.Distinct());
        await TopicContents.PublishAsync(atB, "orders", Messages, 50);
        Assert.Equal(left + 50, (await TopicContents.ReadAsync(atA, "orders", left + 50)).Count);
        Assert.True((await atA.Topics.ReplicateAsync("orders", 3, Cancelled)).IsDone);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Producers_and_consumers_go_on_while_a_topic_gets_replicas()
    {
        FaultRun.RequireTier("It takes ten seconds.");
        await CreateAsync("orders", partitions: 1);
        await using LightQClient client = TopicContents.Connect(_cluster.A),
            reader = TopicContents.Connect(_cluster.A);
        int count = int.MaxValue;
        Task<SortedDictionary<(int, long), string>> reading = TopicContents.ReadAsync(
            reader,
            "orders",
            () => Volatile.Read(ref count)
        );
        await TopicContents.PublishAsync(client, "orders", 0, 1_000);
        Task replicating = ReplicateAsync(client, "orders");
        // One with a name goes on where it was, whoever serves the topic.
        var options = new ProducerOptions { Name = "shop" };
        await using (Producer producer = await client.CreateProducerAsync("orders", options, Cancelled))
        {
            for (int i = 1_000; i < count; i++)
            {
                // It goes on until the topic has replicas, and for a while behind that.
                if (count == int.MaxValue && replicating.IsCompleted)
                    Volatile.Write(ref count, i + 100);
                await TopicContents.PublishAsync(producer, i);
            }
        }
        await replicating;
        SortedDictionary<(int Partition, long Offset), string> read = await reading.WaitAsync(Patience, Cancelled);
        Assert.Equal(Enumerable.Range(0, count), read.Values.Select(NumberOf));
        Assert.Equal(Enumerable.Range(0, count).Select(i => (long)i), read.Keys.Select(k => k.Offset));
    }

    [Fact]
    public async Task A_topic_is_served_as_before_when_it_comes_to_nothing()
    {
        Topic topic = await CreateAsync("orders", partitions: 2);
        await using LightQClient client = TopicContents.Connect(_cluster.A);
        await TopicContents.PublishAsync(client, "orders", 0, Messages, partition: 0);
        List<int> taken = await TopicContents.WorkAsync(client, "orders", Taken);
        // The first fails while it is served, the second when its streams have ended: that partition is empty.
        foreach (int spoiled in new[] { 0, 1 })
        {
            _cluster.EngineOf("a").Spoils = name => name.EndsWith($"_{spoiled}", StringComparison.Ordinal);
            LightQException failed = await Assert.ThrowsAsync<LightQException>(() => ReplicateAsync(client, "orders"));
            Assert.Equal(ErrorCode.Unavailable, failed.Code);
            Assert.Contains("is as before", failed.Message, StringComparison.Ordinal);
            Assert.Equal(0u, topic.Settings.Replicas);
            Assert.Equal(["LQ_shop_catalog"], _cluster.EngineOf("a").Names);
        }
        _cluster.EngineOf("a").Spoils = static _ => false;
        await TopicContents.PublishAsync(client, "orders", Messages, 10, partition: 0);
        int[] open = [.. Enumerable.Range(0, Messages + 10).Except(taken.Where(i => i % 2 == 0))];
        Assert.Equal(open, (await TopicContents.WorkAsync(client, "orders", open.Length)).Order());
        await ReplicateAsync(client, "orders");
        Assert.Equal(Messages + 10, (await TopicContents.ReadAsync(client, "orders", Messages + 10)).Count);
    }

    [Fact]
    public async Task A_topic_that_was_never_used_gets_replicas_and_what_cannot_have_them_says_why()
    {
        await CreateAsync("orders", partitions: 1);
        await _cluster.CreateAsync("ticks", new() { Kind = TopicKind.Transient });
        await using LightQClient client = TopicContents.Connect(_cluster.A);
        await RefusedAsync("orders", 2, ErrorCode.InvalidArgument, "allowed: 3 or 5");
        await RefusedAsync("ticks", 3, ErrorCode.InvalidArgument, "transient");
        await RefusedAsync("none", 3, ErrorCode.UnknownTopic, "none");
        await ReplicateAsync(client, "orders");
        await RefusedAsync("orders", 5, ErrorCode.InvalidArgument, "has 3");
        await TopicContents.PublishAsync(client, "orders", 0, 10);
        Assert.Equal(10, (await TopicContents.ReadAsync(client, "orders", 10)).Count);

        async Task RefusedAsync(string topic, int replicas, ErrorCode code, string part)
        {
            LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
                client.Topics.ReplicateAsync(topic, replicas, Cancelled)
            );
            Assert.Equal(code, refused.Code);
            Assert.Contains(part, refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task The_stream_begins_where_the_journal_does_in_an_epoch_behind_its_own()
    {
        Topic topic = await CreateAsync("orders", partitions: 1, segmentBytes: 304 * 1024);
        await using LightQClient client = TopicContents.Connect(_cluster.A);
        byte[] body = new byte[8 * 1024];
        await using (Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled))
        {
            for (int i = 0; i < 64; i++)
                await producer.PublishAsync(body, cancellationToken: Cancelled);
        }
        uint epoch = topic.Partitions[0].Log.Epoch;
        await Task.Run(() => _cluster.A.Broker.TruncateTopic("orders", 0, 40), Cancelled);
        await ReplicateAsync(client, "orders");
        StreamEntry[] entries = _cluster.StreamOf(topic.Id, 0).Entries;
        Assert.True(ControlEntry.TryDecode(entries[0], out ControlEntry? claim));
        (long offset, uint batchEpoch) = First(entries.First(e => e.Kind == EntryKind.Data));
        Assert.InRange(offset, 20, 40);
        Assert.Equal((offset, epoch + 1), (claim.Value.EndOffset, claim.Value.Epoch));
        Assert.Equal(epoch + 1, batchEpoch);
        await _cluster.LeadAsync("orders", 0, "b");
        Partition led = _cluster.B.Broker.GetTopic("orders").Partitions[0];
        Assert.Equal((offset, 64L), (led.Log.StartOffset, led.Log.EndOffset));
    }

    private static (long Offset, uint Epoch) First(in StreamEntry run)
    {
        var batch = new BatchView(run.Payload.Span);
        return (batch.BaseOffset, batch.LeaderEpoch);
    }

    private static int NumberOf(string message) =>
        int.Parse(message.Split(' ')[0], System.Globalization.CultureInfo.InvariantCulture);

    private static async Task ReplicateAsync(LightQClient client, string topic)
    {
        while (!(await client.Topics.ReplicateAsync(topic, 3, Cancelled)).IsDone)
            await Task.Delay(20, Cancelled);
    }

    private async Task<Topic> CreateAsync(string name, uint partitions, long segmentBytes = 0) =>
        await _cluster.CreateAsync(
            name,
            new TopicSettings
            {
                Kind = TopicKind.Durable,
                Partitions = partitions,
                SegmentBytes = segmentBytes,
                MaxMessageBytes = segmentBytes == 0 ? 1024 * 1024 : 10 * 1024,
            }
        );
}

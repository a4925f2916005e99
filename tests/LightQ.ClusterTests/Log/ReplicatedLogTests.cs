using LightQ.Broker.Replication;
using LightQ.IntegrationTests;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>A replicated log over a stream in memory: one owner, then owners that take it from one another.</summary>
public sealed class ReplicatedLogTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task What_is_acknowledged_is_in_the_stream_once_in_order_and_in_the_nodes_journal()
    {
        using var directory = new TemporaryDirectory();
        var stream = new FaultyStream(seed: 1);
        await using var node = new ReplicaNode("a", stream.Connect(), directory.Path);
        await node.ClaimAsync(Cancelled);
        Dictionary<ulong, IReadOnlyList<long>> acknowledged = await LogTraffic.PublishAsync(
            [node],
            producers: 4,
            batches: 100
        );
        var checker = new StreamChecker(stream.Entries);
        checker.Check(acknowledged);
        Assert.Equal(0, checker.Void);
        Assert.InRange(checker.Snapshots, 1, 100);
        Assert.Equal(400, checker.Log.Count);
        await Eventually.TrueAsync(
            () => node.Log.ReadableOffset == checker.Log[^1].NextOffset,
            TimeSpan.FromSeconds(30),
            () => $"readable to {node.Log.ReadableOffset}"
        );
        checker.CheckNode(node);
        Assert.True(stream.Entries.Count(e => e.Kind == EntryKind.Data) < 400, "No run had two batches.");
    }

    [Fact]
    public async Task A_node_that_starts_again_knows_its_producers_and_goes_on()
    {
        using var directory = new TemporaryDirectory();
        var stream = new FaultyStream(seed: 2);
        await using (var node = new ReplicaNode("a", stream.Connect(), directory.Path))
        {
            await node.ClaimAsync(Cancelled);
            await LogTraffic.PublishAsync([node], producers: 2, batches: 50);
            await node.Log.StepDownAsync("the test stops it", holdsBack: false, Cancelled);
            Assert.Null(await node.PublishAsync(1, 50, records: 1));
        }
        // The last entry names the snapshot: the next owner begins there.
        Assert.Equal([EntryKind.Snapshot, EntryKind.Positions], stream.Entries.TakeLast(2).Select(e => e.Kind));
        await using var again = new ReplicaNode("a", stream.Connect(), directory.Path);
        await again.ClaimAsync(Cancelled);
        Assert.Equal(2u, again.Log.Epoch);
        Assert.Equal(-1, await again.PublishAsync(1, 49, records: 1)); // A duplicate.
        Assert.NotNull(await again.PublishAsync(1, 50, records: 1));
        var checker = new StreamChecker(stream.Entries);
        Assert.Equal(101, checker.Log.Count);
        await Eventually.TrueAsync(
            () => again.Log.ReadableOffset == checker.Log[^1].NextOffset,
            TimeSpan.FromSeconds(30),
            () => $"readable to {again.Log.ReadableOffset}"
        );
        checker.CheckNode(again);
    }

    [Fact]
    public async Task A_node_with_nothing_of_its_own_gets_everything_from_the_stream()
    {
        using var directory = new TemporaryDirectory();
        using var other = new TemporaryDirectory();
        var stream = new FaultyStream(seed: 3);
        await using var node = new ReplicaNode("a", stream.Connect(), directory.Path);
        await node.ClaimAsync(Cancelled);
        await LogTraffic.PublishAsync([node], producers: 2, batches: 100);
        await using var heir = new ReplicaNode("b", stream.Connect(), other.Path);
        await heir.ClaimAsync(Cancelled);
        Assert.True(node.IsOwner); // It does not know yet.
        Assert.Null(await node.PublishAsync(1, 100, records: 1));
        Assert.False(node.IsOwner);
        Assert.Contains("claimed", node.Log.Failure, StringComparison.Ordinal);
        Assert.Equal(-1, await heir.PublishAsync(1, 99, records: 1));
        Assert.NotNull(await heir.PublishAsync(1, 100, records: 1));
        var checker = new StreamChecker(stream.Entries);
        Assert.Equal(0, checker.Void);
        await Eventually.TrueAsync(
            () => heir.Log.ReadableOffset == checker.Log[^1].NextOffset,
            TimeSpan.FromSeconds(30),
            () => $"readable to {heir.Log.ReadableOffset}"
        );
        checker.CheckNode(heir);
        checker.CheckNode(node);
    }

    [Fact]
    public async Task What_the_journal_lets_go_is_removed_from_the_stream_too()
    {
        using var directory = new TemporaryDirectory();
        using var other = new TemporaryDirectory();
        using var early = new TemporaryDirectory();
        var stream = new FaultyStream(seed: 4);
        await using (var first = new ReplicaNode("c", stream.Connect(), early.Path))
        {
            await first.ClaimAsync(Cancelled);
            Assert.NotNull(await first.PublishAsync(3, 0, records: 5));
        }
        await using (var node = new ReplicaNode("a", stream.Connect(), directory.Path))
        {
            await node.ClaimAsync(Cancelled);
            await LogTraffic.PublishAsync([node], producers: 2, batches: 100);
            await Eventually.TrueAsync(
                () => node.Log.ReadableOffset == node.Log.EndOffset,
                TimeSpan.FromSeconds(30),
                () => $"readable to {node.Log.ReadableOffset}"
            );
            long start = node.Log.Truncate(-1);
            Assert.True(start > 200);
            for (ulong i = 100; FirstData() < 10; i++)
            {
                Assert.True(i < 10_000, "Nothing was removed.");
                Assert.NotNull(await node.PublishAsync(1, i, records: 5));
            }
        }
        Assert.Equal(EntryKind.Claim, stream.Entries[0].Kind); // Claims stay.

        await using (var again = new ReplicaNode("a", stream.Connect(), directory.Path))
        {
            await again.ClaimAsync(Cancelled);
            Assert.Equal(-1, await again.PublishAsync(2, 99, records: 1)); // A duplicate, of what is gone.
            Assert.NotNull(await again.PublishAsync(2, 100, records: 1));
        }
        // A node without a journal begins where the stream does, and one whose journal ends before that likewise.
        await using (var empty = new ReplicaNode("b", stream.Connect(), other.Path))
            await CheckHeirAsync(empty, next: 101);
        await using var late = new ReplicaNode("c", stream.Connect(), early.Path);
        await CheckHeirAsync(late, next: 102);

        async Task CheckHeirAsync(ReplicaNode heir, ulong next)
        {
            await heir.ClaimAsync(Cancelled);
            long front = TestBatch.OffsetOf(stream.Entries.First(entry => entry.Kind == EntryKind.Data));
            Assert.True(front > 0);
            Assert.Equal(front, heir.Log.StartOffset);
            Assert.Equal(-1, await heir.PublishAsync(2, next - 1, records: 1)); // A duplicate, of what is gone.
            Assert.Equal(-1, await heir.PublishAsync(1, 99, records: 1));
            long? offset = await heir.PublishAsync(2, next, records: 1);
            Assert.NotNull(offset);
            await Eventually.TrueAsync(
                () => heir.Log.ReadableOffset == offset + 1,
                TimeSpan.FromSeconds(30),
                () => $"readable to {heir.Log.ReadableOffset}"
            );
            List<Stored> kept = heir.ReadJournal();
            Assert.Equal((front, offset + 1), (kept[0].Offset, kept[^1].NextOffset));
            await heir.Log.StepDownAsync("the test stops it", holdsBack: false, Cancelled);
        }

        ulong FirstData() => stream.Entries.First(entry => entry.Kind == EntryKind.Data).Sequence;
    }

    [Fact]
    public async Task A_takeover_between_two_parts_of_a_snapshot_takes_the_one_before()
    {
        const int Producers = 100,
            Parts = 3;
        using var directory = new TemporaryDirectory();
        using var other = new TemporaryDirectory();
        var stream = new FaultyStream(seed: 7);
        var cut = new CutInSnapshot(stream.Connect(), behind: Parts + 2);
        await using (var node = new ReplicaNode("a", cut, directory.Path, shape: InParts))
        {
            await node.ClaimAsync(Cancelled);
            await PublishAllAsync(node, sequence: 0);
            await node.Log.StepDownAsync("a snapshot is wanted", holdsBack: false, Cancelled);
        }
        await using (var node = new ReplicaNode("a", cut, directory.Path, shape: InParts))
        {
            await node.ClaimAsync(Cancelled);
            await PublishAllAsync(node, sequence: 1);
            await node.Log.StepDownAsync("a snapshot is wanted", holdsBack: false, Cancelled); // Its third part is lost.
        }
        Assert.Equal(Parts + 2, stream.Entries.Count(entry => entry.Kind == EntryKind.Snapshot));
        await CheckAsync(directory.Path); // One that holds everything itself reads from the snapshot on.
        await CheckAsync(other.Path);

        async Task CheckAsync(string path)
        {
            await using var heir = new ReplicaNode("b", stream.Connect(), path, shape: InParts);
            await heir.ClaimAsync(Cancelled);
            for (ulong producer = 1; producer <= Producers; producer++)
                Assert.Equal(-1, await heir.PublishAsync(producer, 1, records: 1));
        }

        static async Task PublishAllAsync(ReplicaNode node, ulong sequence)
        {
            for (ulong producer = 1; producer <= Producers; producer++)
                Assert.NotNull(await node.PublishAsync(producer, sequence, records: 1));
        }

        static ReplicatedLogOptions InParts(ReplicatedLogOptions options) => options with { MaxRunBytes = 600 };
    }

    [Fact]
    public async Task A_stream_that_has_lost_what_a_node_holds_is_not_claimed()
    {
        using var directory = new TemporaryDirectory();
        await using (var node = new ReplicaNode("a", new FaultyStream(seed: 6).Connect(), directory.Path))
        {
            await node.ClaimAsync(Cancelled);
            Assert.NotNull(await node.PublishAsync(1, 0, records: 3));
        }
        var empty = new FaultyStream(seed: 6);
        await using var again = new ReplicaNode("a", empty.Connect(), directory.Path);
        ReplicationException failure = await Assert.ThrowsAsync<ReplicationException>(() =>
            again.ClaimAsync(Cancelled)
        );
        Assert.Contains("up to 3", failure.Message, StringComparison.Ordinal);
        Assert.Empty(empty.Entries);
    }

    [Theory]
    [InlineData(1, 1, "begins at entry 2 and not at 1")]
    [InlineData(1, 4, "begins at entry 5 and not at 1")]
    [InlineData(3, 4, "the claim of epoch 2")] // The second node's claim, and what it stored.
    [InlineData(2, 2, "the offsets 0 to")]
    public async Task A_stream_that_has_lost_entries_is_not_claimed_by_a_node_that_holds_nothing(
        ulong first,
        ulong last,
        string reason
    )
    {
        using var one = new TemporaryDirectory();
        using var other = new TemporaryDirectory();
        using var third = new TemporaryDirectory();
        var stream = new FaultyStream(seed: 8);
        await StoreAsync("a", one.Path, 0);
        await StoreAsync("b", other.Path, 1);
        await StoreAsync("a", one.Path, 2);
        int before = stream.Entries.Length;
        stream.Lose(first, last);
        await using var heir = new ReplicaNode("c", stream.Connect(), third.Path);
        ReplicationException failure = await Assert.ThrowsAsync<ReplicationException>(() => heir.ClaimAsync(Cancelled));
        Assert.Contains(reason, failure.Message, StringComparison.Ordinal);
        Assert.Equal(before - (int)(last - first + 1), stream.Entries.Length);

        async Task StoreAsync(string name, string path, ulong sequence)
        {
            await using var node = new ReplicaNode(name, stream.Connect(), path);
            await node.ClaimAsync(Cancelled);
            Assert.NotNull(await node.PublishAsync(1, sequence, records: 1));
        }
    }

    [Fact]
    public Task Claims_against_live_owners_lost_answers_and_cuts_lose_and_double_nothing() => RunAsync(seed: 11);

    [Theory]
    [InlineData(12)]
    [InlineData(13)]
    [InlineData(14)]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task Other_claims_lost_answers_and_cuts_lose_and_double_nothing(int seed)
    {
        FaultRun.RequireTier("One of the same kind is in every run.");
        return RunAsync(seed);
    }

    private static async Task RunAsync(int seed)
    {
        TemporaryDirectory[] directories = [new(), new(), new()];
        var stream = new FaultyStream(seed, faults: 0.02);
        FaultyStream.Link[] links = [stream.Connect(), stream.Connect(), stream.Connect()];
        ReplicaNode[] nodes = [.. links.Select((link, i) => new ReplicaNode($"n{i}", link, directories[i].Path))];
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        Task nemesis = DisturbAsync(nodes, links, new Random(seed), stop.Token);
        Dictionary<ulong, IReadOnlyList<long>> acknowledged = await LogTraffic.PublishAsync(
            nodes,
            producers: 4,
            batches: 150
        );
        await stop.CancelAsync();
        await nemesis;
        foreach (FaultyStream.Link link in links)
            link.Heal();
        var checker = new StreamChecker(stream.Entries);
        checker.Check(acknowledged);
        Assert.Equal(0, checker.Void); // One append is under way: nothing fits behind a claim.
        Assert.True(checker.Epoch >= 5, $"Only {checker.Epoch} claims.");
        foreach (ReplicaNode node in nodes)
            checker.CheckNode(node);
        foreach (ReplicaNode node in nodes)
            await node.DisposeAsync();
        foreach (TemporaryDirectory directory in directories)
            directory.Dispose();
    }

    /// <summary>Claims for nodes that are not the owner, while the owner is at work, and cuts and heals links.</summary>
    private static async Task DisturbAsync(
        ReplicaNode[] nodes,
        FaultyStream.Link[] links,
        Random random,
        CancellationToken cancellationToken
    )
    {
        try
        {
            while (true)
            {
                int chosen = random.Next(nodes.Length);
                int cut = random.Next(3) == 0 ? random.Next(nodes.Length) : -1;
                if (cut >= 0)
                    links[cut].Cut();
                await LogTraffic.TryClaimAsync(nodes[chosen], cancellationToken);
                await Task.Delay(random.Next(5, 40), cancellationToken);
                if (cut >= 0)
                    links[cut].Heal();
                if (!Array.Exists(nodes, node => node.IsOwner))
                    await LogTraffic.TryClaimAsync(nodes[random.Next(nodes.Length)], cancellationToken);
            }
        }
        catch (OperationCanceledException)
        {
            // The producers are done.
        }
    }
}

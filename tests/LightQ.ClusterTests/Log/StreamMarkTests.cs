using System.Text.Json.Nodes;
using LightQ.Broker.Replication;
using LightQ.IntegrationTests;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>A node remembers beside its journal how far of the stream it goes.</summary>
public sealed class StreamMarkTests : IDisposable
{
    private const ulong Before = 40,
        After = 160;

    private readonly TemporaryDirectory _one = new();
    private readonly TemporaryDirectory _other = new();
    private readonly FaultyStream _stream = new(seed: 31);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _one.Dispose();
        _other.Dispose();
    }

    [Fact]
    public async Task A_takeover_whose_journal_ends_before_the_snapshot_begins_at_the_mark()
    {
        ulong held = await MakeAsync();
        FaultyStream.Link link = _stream.Connect();
        await using var node = new ReplicaNode("b", link, _other.Path);
        await node.ClaimAsync(Cancelled);
        // The snapshot, the mark's own entry, and what asks for them come to it.
        Assert.InRange(link.EntriesRead, 1, (_stream.Entries.Length - (long)held) + 10);
        await CheckAsync(node);
    }

    [Fact]
    public async Task Without_a_mark_it_begins_at_the_front()
    {
        await MakeAsync();
        File.Delete(ReplicaNode.MarkOf(_other.Path));
        FaultyStream.Link link = _stream.Connect();
        await using var node = new ReplicaNode("b", link, _other.Path);
        await node.ClaimAsync(Cancelled);
        Assert.True(link.EntriesRead >= _stream.Entries.Length - 1, $"It read {link.EntriesRead}.");
        await CheckAsync(node);
    }

    [Theory]
    [InlineData("Checksum", true)]
    [InlineData("Epoch", true)]
    [InlineData("AppendTime", true)]
    [InlineData("Sequence", true)]
    [InlineData("NextOffset-", true)]
    [InlineData("NextOffset+", false)] // The journal ends before it.
    [InlineData("Stream", false)] // It is of another stream.
    [InlineData("Json", false)] // It cannot be read.
    public async Task A_wrong_mark_is_found_and_thrown_away(string wrong, bool isReported)
    {
        await MakeAsync();
        string path = ReplicaNode.MarkOf(_other.Path);
        JsonNode mark = JsonNode.Parse(await File.ReadAllTextAsync(path, Cancelled))!;
        JsonNode fields = mark["Mark"]!;
        switch (wrong)
        {
            case "Json":
                await File.WriteAllTextAsync(path, mark.ToJsonString()[..^9], Cancelled);
                break;
            case "Stream":
                mark["Stream"] = "another";
                break;
            case "Sequence": // The next entry: it has another batch.
                fields["Sequence"] = (ulong)fields["Sequence"]! + 1;
                break;
            case "NextOffset+":
                fields["NextOffset"] = (long)fields["NextOffset"]! + 1;
                break;
            case "NextOffset-":
                fields["NextOffset"] = (long)fields["NextOffset"]! - 1;
                break;
            default:
                fields[wrong] = (long)fields[wrong]! + 1;
                break;
        }
        if (wrong != "Json")
            await File.WriteAllTextAsync(path, mark.ToJsonString(), Cancelled);
        List<StreamMark> reported = [];
        FaultyStream.Link link = _stream.Connect();
        await using var node = new ReplicaNode(
            "b",
            link,
            _other.Path,
            shape: options => options with { WrongMark = reported.Add }
        );
        await node.ClaimAsync(Cancelled);
        Assert.True(link.EntriesRead >= _stream.Entries.Length - 1, $"It read {link.EntriesRead}.");
        Assert.Equal(isReported ? 1 : 0, reported.Count);
        await CheckAsync(node);
    }

    [Fact]
    public async Task A_node_fills_its_journal_while_another_one_leads_and_reads_next_to_nothing_when_it_claims()
    {
        FaultyStream.Link link = _stream.Connect();
        await using var leader = new ReplicaNode("a", _stream.Connect(), _one.Path);
        await leader.ClaimAsync(Cancelled);
        await PublishAsync(leader, 0, After);
        await using var node = new ReplicaNode("b", link, _other.Path);
        await node.FillAsync(Cancelled);
        Assert.True(link.EntriesRead > (long)After / 2, $"It read {link.EntriesRead}.");
        Assert.True(leader.IsOwner);
        Assert.NotNull(await leader.PublishAsync(1, After, records: 1));
        await leader.Log.StepDownAsync("the test hands it over", holdsBack: false, Cancelled);
        long before = link.EntriesRead;
        await node.ClaimAsync(Cancelled);
        Assert.InRange(link.EntriesRead - before, 1, 20);
        Assert.Equal(-1, await node.PublishAsync(1, After, records: 1)); // It has the leader's state.
        Assert.NotNull(await node.PublishAsync(1, After + 1, records: 1));
        await CheckAsync(node);
    }

    [Fact]
    public async Task What_was_filled_is_remembered_when_another_node_gets_the_partition()
    {
        await using var leader = new ReplicaNode("a", _stream.Connect(), _one.Path);
        await leader.ClaimAsync(Cancelled);
        await PublishAsync(leader, 0, After);
        await using (var node = new ReplicaNode("b", _stream.Connect(), _other.Path))
            await node.FillAsync(Cancelled);
        int filled = _stream.Entries.Length;
        await PublishAsync(leader, After, 2 * After);
        await leader.Log.StepDownAsync("the test hands it over", holdsBack: false, Cancelled);
        FaultyStream.Link link = _stream.Connect();
        await using var again = new ReplicaNode("b", link, _other.Path);
        await again.ClaimAsync(Cancelled);
        Assert.InRange(link.EntriesRead, 1, _stream.Entries.Length - filled + 20);
        await CheckAsync(again);
    }

    [Fact]
    public async Task A_mark_in_front_of_what_retention_has_left_is_of_no_use()
    {
        await MakeAsync();
        // As the leader's retention leaves it: without the entries that would follow in the other's journal.
        StreamEntry[] entries = _stream.Entries;
        ulong snapshot = entries.Last(e => e.Kind == EntryKind.Snapshot).Sequence;
        await _stream.Connect().PurgeAsync(EntryKind.Data, snapshot, Cancelled);
        await using var node = new ReplicaNode("b", _stream.Connect(), _other.Path);
        await node.ClaimAsync(Cancelled);
        Assert.True(node.Log.StartOffset > (long)Before, $"It begins at {node.Log.StartOffset}.");
        Assert.NotNull(await node.PublishAsync(1, After, records: 1));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_tail_that_a_takeover_reads_counts_towards_the_next_snapshot()
    {
        FaultRun.RequireTier("It fills many snapshots.");
        static ReplicatedLogOptions Shape(ReplicatedLogOptions options) => options with { SnapshotBytes = 40_000 };
        ulong next = 0;
        // Each owner writes too little for a snapshot, and ends without one.
        for (int i = 0; i < 20; i++)
        {
            string directory = (i % 2 == 0 ? _one : _other).Path;
            await using var node = new ReplicaNode("n", _stream.Connect(), directory, shape: Shape);
            await node.ClaimAsync(Cancelled);
            await PublishAsync(node, next, next += 50);
        }
        int snapshots = _stream.Entries.Count(e => e.Kind == EntryKind.Snapshot);
        Assert.InRange(snapshots, 3, 20);
    }

    [Fact]
    public async Task However_small_its_entries_are_a_takeover_reads_so_many_behind_a_snapshot_and_no_more()
    {
        const int Most = 8;
        static ReplicatedLogOptions Shape(ReplicatedLogOptions options) =>
            options with
            {
                SnapshotBytes = long.MaxValue,
                SnapshotEntries = Most,
            };
        ulong next = 0;
        // Each owner adds half of them, one by one, and ends without a snapshot at its end.
        for (int i = 0; i < 8; i++)
        {
            await using var node = new ReplicaNode("n", _stream.Connect(), _one.Path, shape: Shape);
            await node.ClaimAsync(Cancelled);
            for (int entry = 0; entry < Most / 2; entry++)
                Assert.NotNull(await node.PublishAsync(1, next++, records: 1));
        }
        EntryKind[] kinds = [.. _stream.Entries.Select(e => e.Kind)];
        int tail = 0;
        foreach (EntryKind kind in kinds)
        {
            tail = kind == EntryKind.Snapshot ? 0 : tail + 1;
            // Its state adds a few, and the claim counts, too.
            Assert.True(tail <= 2 * Most, string.Join(' ', kinds));
        }
    }

    [Fact]
    public async Task The_file_never_says_more_than_the_journal_has_synced()
    {
        string path = _one.File("mark");
        long synced = 5;
        var file = new MarkFile(path, "s", () => synced);
        Assert.Null(file.Latest);
        file.Note(MarkAt(10), bytes: 16 * 1024 * 1024);
        Assert.Equal(MarkAt(10), file.Latest);
        file.OnProgress();
        Assert.False(File.Exists(path));
        file.Note(MarkAt(12), bytes: 16 * 1024 * 1024); // The one before still waits.
        synced = 10;
        file.OnProgress();
        await Eventually.TrueAsync(() => File.Exists(path), TimeSpan.FromMinutes(1), () => "Nothing is written.");
        await file.CloseAsync(); // 12 is not synced.
        Assert.Equal(MarkAt(10), new MarkFile(path, "s", () => synced).Latest);
        Assert.Null(new MarkFile(path, "t", () => synced).Latest);

        file = new MarkFile(path, "s", () => synced);
        file.Note(MarkAt(14), bytes: 1);
        synced = 14;
        await file.CloseAsync();
        file = new MarkFile(path, "s", () => synced);
        Assert.Equal(MarkAt(14), file.Latest);
        file.Forget();
        Assert.Null(file.Latest);
        await file.DeleteAsync();
        Assert.Empty(Directory.EnumerateFiles(_one.Path));
    }

    [Fact]
    public async Task A_broker_that_is_killed_has_marked_all_but_the_last_thousand_entries()
    {
        string path = _one.File("mark");
        var file = new MarkFile(path, "s", () => long.MaxValue);
        for (int entry = 1; entry <= 1024; entry++)
            file.Note(MarkAt(entry), bytes: 350);
        file.OnProgress();
        await Eventually.TrueAsync(() => File.Exists(path), TimeSpan.FromMinutes(1), () => "Nothing is written.");
        Assert.Equal(MarkAt(1024), new MarkFile(path, "s", () => 0).Latest);
    }

    private static StreamMark MarkAt(long offset) =>
        new((ulong)offset, EntryKind.Data, Epoch: 1, offset, AppendTime: 1, Checksum: 7);

    private static async Task PublishAsync(ReplicaNode node, ulong from, ulong to)
    {
        for (ulong i = from; i < to; i++)
            Assert.NotNull(await node.PublishAsync(1, i, records: 3));
    }

    /// <summary>
    /// Node b has been the owner for a while, then a for longer; the last snapshot stands behind what b has.
    /// </summary>
    /// <returns>How many entries b has seen.</returns>
    private async Task<ulong> MakeAsync()
    {
        await using (var node = new ReplicaNode("b", _stream.Connect(), _other.Path))
        {
            await node.ClaimAsync(Cancelled);
            await PublishAsync(node, 0, Before);
            await Eventually.TrueAsync(
                () => node.Log.ReadableOffset == node.Log.EndOffset,
                TimeSpan.FromMinutes(1),
                () => $"readable to {node.Log.ReadableOffset}"
            );
        }
        var held = (ulong)_stream.Entries.Length;
        Assert.True(File.Exists(ReplicaNode.MarkOf(_other.Path)));
        await using var leader = new ReplicaNode("a", _stream.Connect(), _one.Path);
        await leader.ClaimAsync(Cancelled);
        await PublishAsync(leader, Before, After);
        await leader.Log.StepDownAsync("the test ends it", holdsBack: false, Cancelled);
        return held;
    }

    private async Task CheckAsync(ReplicaNode node)
    {
        var checker = new StreamChecker(_stream.Entries);
        await Eventually.TrueAsync(
            () => node.Log.ReadableOffset == checker.Log[^1].NextOffset,
            TimeSpan.FromMinutes(1),
            () => $"readable to {node.Log.ReadableOffset} of {checker.Log[^1].NextOffset}"
        );
        checker.CheckNode(node);
        Assert.Equal(checker.Log.Count, node.ReadJournal().Count);
        Assert.Equal(-1, await node.PublishAsync(1, 0, records: 3)); // Its producers are known.
    }
}

using System.Globalization;
using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>What is stored and not purged is read once, in order.</summary>
public sealed class ReadTests(NatsFixture nats) : EngineTest(nats)
{
    private static readonly EntryKind[] Kinds =
    [
        EntryKind.Claim,
        EntryKind.Data,
        EntryKind.Data,
        EntryKind.Positions,
        EntryKind.Snapshot,
        EntryKind.Data,
    ];

    [Fact]
    public async Task A_range_is_read_without_what_was_purged()
    {
        (IReplicatedStream stream, List<Stored> entries) = await FillAsync(100);
        await PurgeAsync(stream, entries, EntryKind.Data, 60);
        await PurgeAsync(stream, entries, EntryKind.Claim, 30);
        await PurgeAsync(stream, entries, EntryKind.Positions, 101);

        (ulong First, ulong Last)[] ranges =
        [
            (0, ulong.MaxValue),
            (1, 100),
            (10, 20),
            (59, 61),
            (100, 100),
            (94, 94), // A position, which was purged.
            (101, 200),
            (20, 10),
        ];
        foreach ((ulong first, ulong last) in ranges)
        {
            Assert.Equal(
                entries.Where(e => e.Sequence >= first && e.Sequence <= last),
                await ReadAsync(stream, first, last)
            );
        }
    }

    [Fact]
    public async Task A_read_ends_where_the_last_entries_were_purged()
    {
        (IReplicatedStream stream, List<Stored> entries) = await FillAsync(20);
        ulong last = 20;
        for (; last < 30; last++)
            await AppendAsync(stream, last, "gone", EntryKind.Positions);
        await PurgeAsync(stream, entries, EntryKind.Positions, last + 1);
        Assert.Equal(entries, await ReadAsync(stream));
        Assert.Equal(new StreamBounds(1, last), await stream.GetBoundsAsync(Cancellation));

        foreach (EntryKind kind in Enum.GetValues<EntryKind>())
            await PurgeAsync(stream, entries, kind, last + 1);
        Assert.Empty(entries);
        Assert.Empty(await ReadAsync(stream));
        Assert.Equal(new StreamBounds(last + 1, last), await stream.GetBoundsAsync(Cancellation));

        // The chain goes on where it was.
        Stored next = await AppendAsync(stream, last, "next");
        Assert.Equal([next], await ReadAsync(stream));
    }

    [Fact]
    public async Task A_read_asks_for_more_than_one_batch_and_may_stop_anywhere()
    {
        (IReplicatedStream stream, List<Stored> entries) = await FillAsync(600);
        foreach (int stop in (int[])[1, 8, 9, 599])
        {
            List<Stored> read = [];
            await foreach (StreamEntry entry in stream.ReadAsync(1, 600, Cancellation))
            {
                read.Add(Of(entry));
                if (read.Count == stop)
                    break;
            }
            Assert.Equal(entries.Take(stop), read);
        }
        Assert.Equal(entries, await ReadAsync(stream));
    }

    [Fact]
    public async Task One_entry_is_found_by_its_sequence_or_as_the_last_of_its_kind()
    {
        (IReplicatedStream stream, List<Stored> entries) = await FillAsync(12);
        await PurgeAsync(stream, entries, EntryKind.Snapshot, 13);

        // A replica may be behind: what it does not have yet is there soon.
        foreach (Stored entry in entries)
            Assert.Equal(entry, await SoonAsync(() => stream.GetAsync(entry.Sequence, Cancellation)));
        Assert.Null(await stream.GetAsync(13, Cancellation));
        await NoneSoonAsync(() => stream.GetAsync(5, Cancellation));

        foreach (EntryKind kind in (EntryKind[])[EntryKind.Claim, EntryKind.Data, EntryKind.Positions])
        {
            Stored last = entries.Last(entry => entry.Kind == kind);
            while (Of((await stream.GetLastAsync(kind, Cancellation))!.Value) != last)
                Cancellation.ThrowIfCancellationRequested();
        }
        await NoneSoonAsync(() => stream.GetLastAsync(EntryKind.Snapshot, Cancellation));
    }

    [Fact]
    public async Task A_stream_that_is_not_there_cannot_be_read()
    {
        // Of what is not there some servers say nothing.
        var hasty = TimeSpan.FromMilliseconds(300);
        IReplicatedStream stream = (await ConnectAsync(hasty, hasty)).GetStream(NewName());
        await Assert.ThrowsAsync<ReplicationException>(() => ReadAsync(stream));
        await Assert.ThrowsAsync<ReplicationException>(async () => await stream.GetAsync(1, Cancellation));
        await Assert.ThrowsAsync<ReplicationException>(async () => await PurgeAsync(stream, EntryKind.Data, 5));
    }

    private async Task<(IReplicatedStream Stream, List<Stored> Entries)> FillAsync(int count)
    {
        IReplicatedStream stream = await CreateAsync();
        List<Stored> entries = [];
        for (int i = 0; i < count; i++)
        {
            string text = i.ToString(CultureInfo.InvariantCulture);
            entries.Add(await AppendAsync(stream, (ulong)i, text, Kinds[i % Kinds.Length]));
        }
        return (stream, entries);
    }

    private static async Task PurgeAsync(IReplicatedStream stream, List<Stored> entries, EntryKind kind, ulong before)
    {
        await PurgeAsync(stream, kind, before);
        entries.RemoveAll(entry => entry.Kind == kind && entry.Sequence < before);
    }

    private static async Task<Stored> SoonAsync(Func<ValueTask<StreamEntry?>> find)
    {
        while (true)
        {
            Cancellation.ThrowIfCancellationRequested();
            if (await find() is { } entry)
                return Of(entry);
        }
    }

    private static async Task NoneSoonAsync(Func<ValueTask<StreamEntry?>> find)
    {
        while (await find() is not null)
            Cancellation.ThrowIfCancellationRequested();
    }
}

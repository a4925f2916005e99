using System.Globalization;
using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using LightQ.Replication.Nats;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>An append is stored behind the entry that it names, or not at all.</summary>
public sealed class AppendTests(NatsFixture nats) : EngineTest(nats)
{
    [Fact]
    public async Task Appends_of_all_kinds_make_one_chain()
    {
        IReplicatedStream stream = await CreateAsync();
        Assert.Equal(new StreamBounds(1, 0), await stream.GetBoundsAsync(Cancellation));
        Stored[] entries =
        [
            await AppendAsync(stream, 0, "claim", EntryKind.Claim),
            await AppendAsync(stream, 1, "data", EntryKind.Data),
            await AppendAsync(stream, 2, "", EntryKind.Positions),
            await AppendAsync(stream, 3, "snapshot", EntryKind.Snapshot),
        ];
        Assert.Equal(new StreamBounds(1, 4), await stream.GetBoundsAsync(Cancellation));
        Assert.Equal(entries, await ReadAsync(stream));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task An_append_behind_another_entry_than_the_last_is_refused(ulong expectedLast)
    {
        IReplicatedStream stream = await CreateAsync();
        await AppendAsync(stream, 0, "one", EntryKind.Claim);
        await AppendAsync(stream, 1, "two");

        EntryAppend append = await stream.AppendAsync(EntryKind.Data, Payload("no"), expectedLast, Cancellation);
        Assert.Equal(AppendOutcome.Refused, append.Outcome);
        Assert.Contains("wrong last sequence", append.Reason, StringComparison.Ordinal);
        Assert.Equal(new StreamBounds(1, 2), await stream.GetBoundsAsync(Cancellation));
    }

    [Fact]
    public async Task Of_two_that_append_behind_the_same_entry_one_wins()
    {
        IReplicatedStream stream = await CreateAsync();
        JetStreamEngine other = await ConnectAsync(TimeSpan.FromSeconds(20), TimeSpan.FromSeconds(20));
        IReplicatedStream[] rivals = [stream, await other.CreateStreamAsync(stream.Name, 3, Cancellation)];
        List<Stored> winners = [];
        for (ulong last = 0; last < 50; last++)
        {
            ulong expectedLast = last;
            EntryAppend[] appends = await Task.WhenAll(
                rivals.Select(
                    (rival, i) =>
                        rival.AppendAsync(EntryKind.Claim, Payload(Text(i)), expectedLast, Cancellation).AsTask()
                )
            );
            int winner = Array.FindIndex(appends, append => append.Outcome == AppendOutcome.Stored);
            Assert.Equal(EntryAppend.Stored(last + 1), appends[winner]);
            Assert.Equal(AppendOutcome.Refused, appends[1 - winner].Outcome);
            winners.Add(new(last + 1, EntryKind.Claim, Text(winner)));
        }
        Assert.Equal(winners, await ReadAsync(stream));
    }

    [Fact]
    public async Task The_largest_entry_is_stored_and_one_byte_more_is_not_sent()
    {
        IReplicatedStream stream = await CreateAsync();
        byte[] payload = new byte[Engine.MaxEntryBytes + 1];
        new Random(1).NextBytes(payload);
        ReadOnlyMemory<byte> largest = payload.AsMemory(1);

        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () =>
            await stream.AppendAsync(EntryKind.Data, payload, 0, Cancellation)
        );
        Assert.Equal(EntryAppend.Stored(1), await stream.AppendAsync(EntryKind.Data, largest, 0, Cancellation));

        StreamEntry?[] found =
        [
            await stream.GetAsync(1, Cancellation),
            await stream.GetLastAsync(EntryKind.Data, Cancellation),
            await MessageQuery.AskLeaderAsync(Engine, new(stream.Name), new(1), Cancellation),
        ];
        Assert.All(found, entry => Assert.True(entry!.Value.Payload.Span.SequenceEqual(largest.Span)));
        await foreach (StreamEntry entry in stream.ReadAsync(1, 1, Cancellation))
            Assert.True(entry.Payload.Span.SequenceEqual(largest.Span));
    }

    [Fact]
    public async Task An_append_that_is_not_waited_for_has_no_known_outcome()
    {
        IReplicatedStream stream = await CreateAsync();
        using var cancelled = new CancellationTokenSource();
        await cancelled.CancelAsync();
        EntryAppend append = await stream.AppendAsync(EntryKind.Data, Payload("x"), 0, cancelled.Token);
        Assert.Equal(AppendOutcome.Unknown, append.Outcome);
    }

    private static string Text(int value) => value.ToString(CultureInfo.InvariantCulture);
}

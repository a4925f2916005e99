using LightQ.Broker.Groups;
using LightQ.Broker.Replication;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>Positions of groups as a stream keeps them.</summary>
public sealed class StreamPositionsTests
{
    private const int Large = 4096;

    [Fact]
    public void What_changes_is_saved_once_and_the_whole_in_a_snapshot()
    {
        var owner = new StreamPositions();
        owner.Set("a", 5, [1, 2, 3]);
        owner.Set("b", 7, []);
        var heir = new StreamPositions();
        heir.Load(owner.Save());
        owner.OnStored();
        Assert.Empty(owner.SaveChanges(Large)!);
        owner.Set("a", 9, [4]);
        owner.Remove("b");
        owner.Set("c", 1, []);
        heir.Apply(Assert.Single(owner.SaveChanges(Large)!).Span);
        Assert.Equal(["a", "c"], heir.Names.Order());
        Assert.True(heir.TryGet("a", out long offset, out ReadOnlyMemory<byte> state));
        Assert.Equal((9, (byte)4), (offset, Assert.Single(state.ToArray())));
        heir.Load(owner.Save());
        Assert.Equal(["a", "c"], heir.Names.Order());
    }

    [Fact]
    public void The_lower_of_what_the_next_owner_may_find_is_kept()
    {
        var positions = new StreamPositions();
        positions.Set("a", 10, []);
        Assert.False(positions.TryGetKept("a", out _));
        positions.SaveChanges(Large);
        Assert.False(positions.TryGetKept("a", out _)); // It may not be found.
        positions.OnStored();
        Assert.Equal(10, KeptOf(positions));
        positions.Set("a", 20, []);
        positions.SaveChanges(Large);
        positions.Set("a", 30, []);
        Assert.Equal(10, KeptOf(positions));
        positions.OnStored();
        Assert.Equal(20, KeptOf(positions));
        positions.Set("a", 3, []); // A reset.
        Assert.Equal(20, KeptOf(positions));
        positions.Save();
        Assert.Equal(3, KeptOf(positions));
        positions.OnStored();
        Assert.Equal(3, KeptOf(positions));
    }

    [Fact]
    public void A_group_is_being_forgotten_until_its_removal_is_stored()
    {
        var positions = new StreamPositions();
        positions.Set("a", 1, []);
        positions.SaveChanges(Large);
        positions.Remove("a");
        positions.OnStored(); // Of what was before.
        Assert.True(positions.IsForgetting);
        positions.SaveChanges(Large);
        Assert.True(positions.IsForgetting);
        positions.OnStored();
        Assert.False(positions.IsForgetting);
    }

    [Fact]
    public void Changes_are_cut_between_groups_and_one_that_does_not_fit_wants_a_snapshot()
    {
        var owner = new StreamPositions();
        for (int i = 0; i < 10; i++)
            owner.Set($"group-{i}", i, new byte[100]);
        IReadOnlyList<ReadOnlyMemory<byte>> pieces = owner.SaveChanges(mostBytes: 300)!;
        Assert.Equal(5, pieces.Count);
        Assert.All(pieces, piece => Assert.InRange(piece.Length, 1, 300));
        var heir = new StreamPositions();
        foreach (ReadOnlyMemory<byte> piece in pieces)
            heir.Apply(piece.Span);
        Assert.Equal(10, heir.Count);
        owner.OnStored();
        owner.Set("group-0", 1, new byte[400]);
        Assert.Null(owner.SaveChanges(mostBytes: 300));
        heir.Load(owner.Save());
        Assert.True(heir.TryGet("group-0", out long offset, out ReadOnlyMemory<byte> state));
        Assert.Equal((1, 400), (offset, state.Length));
    }

    [Fact]
    public async Task A_flush_waits_until_it_is_stored_and_not_for_one_that_is_lost()
    {
        var positions = new StreamPositions();
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        positions.StoreWith(() => asked.TrySetResult());
        positions.Set("a", 1, []);
        Task<bool> flushing = Task.Run(
            () => positions.TryFlush(() => true, TimeSpan.FromMinutes(1)),
            TestContext.Current.CancellationToken
        );
        await asked.Task.WaitAsync(TimeSpan.FromMinutes(1), TestContext.Current.CancellationToken);
        Assert.False(flushing.IsCompleted);
        positions.SaveChanges(Large);
        positions.OnStored();
        Assert.True(await flushing.WaitAsync(TimeSpan.FromMinutes(1), TestContext.Current.CancellationToken));
        Assert.True(positions.TryFlush(() => false, TimeSpan.FromMinutes(1))); // There is nothing to store.
        positions.Set("a", 2, []);
        Assert.False(positions.TryFlush(() => false, TimeSpan.FromMinutes(1)));
    }

    [Fact]
    public void What_contradicts_itself_is_refused()
    {
        var owner = new StreamPositions();
        owner.Set("a", 5, [1, 2, 3]);
        byte[] saved = owner.Save();
        for (int length = 1; length < saved.Length; length++)
            Assert.Throws<ReplicationException>(() => new StreamPositions().Load(saved.AsSpan(0, length)));
    }

    private static long KeptOf(StreamPositions positions) => positions.TryGetKept("a", out long kept) ? kept : -1;
}

using LightQ.Broker.Delays;
using Xunit;

namespace LightQ.Tests.Broker;

public sealed class PendingDelaysTests
{
    private readonly PendingDelays _pending = new();

    [Fact]
    public void They_are_due_in_order_and_equal_ones_in_that_of_their_offsets()
    {
        foreach ((long offset, long due) in ((long, long)[])[(0, 30), (1, 10), (5, 20), (6, 10), (9, 10)])
            _pending.Add(offset, due, 2, 10);
        Assert.Equal((5, 10L, 0L), (_pending.Count, _pending.Messages, _pending.FirstOffset));
        Assert.Equal([1, 6, 9, 5, 0], Drain());
        Assert.Equal((0, 0L, long.MaxValue), (_pending.Count, _pending.Messages, _pending.FirstOffset));
    }

    [Fact]
    public void What_was_removed_is_passed_over_and_the_first_offset_moves_on()
    {
        for (int i = 0; i < 5; i++)
            _pending.Add(i, 100 - i, 1, 10);
        _pending.Remove(4);
        _pending.Remove(0);
        _pending.Remove(0);
        _pending.Remove(77);
        _pending.Add(1, 1, 50, 500);
        Assert.Equal((3, 3L, 30L, 1L), (_pending.Count, _pending.Messages, _pending.Bytes, _pending.FirstOffset));
        Assert.Equal([3, 2, 1], Drain());
    }

    [Fact]
    public void What_was_saved_is_loaded_and_what_follows_it_is_left()
    {
        for (int i = 0; i < 1000; i++)
            _pending.Add(i * 3, 5000 - i, i, 100 + i);
        byte[] state = [.. _pending.Save(), 1, 2, 3];
        var loaded = new PendingDelays();
        Assert.Equal([1, 2, 3], loaded.Load(state).ToArray());
        Assert.Equal(
            (_pending.Count, _pending.Messages, _pending.Bytes, _pending.FirstOffset),
            (loaded.Count, loaded.Messages, loaded.Bytes, loaded.FirstOffset)
        );
        Assert.True(loaded.TryPeek(out long offset, out long due));
        Assert.Equal((2997, 4001), (offset, due));
    }

    [Fact]
    public void A_state_without_any_is_that_of_producers_alone()
    {
        Assert.Empty(_pending.Save());
        byte[] producers = [7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9];
        Assert.Equal(producers, _pending.Load(producers).ToArray());
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public void A_state_of_an_earlier_version_is_loaded_without_lengths()
    {
        byte[] state =
        [
            0,
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
            10,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            1,
            2,
            3,
            0,
            0,
            0,
            0,
            0,
            3,
            0,
            0,
            0,
            77,
        ];
        Assert.Equal([77], _pending.Load(state).ToArray());
        Assert.Equal((1, 3L, 0L, 10L), (_pending.Count, _pending.Messages, _pending.Bytes, _pending.FirstOffset));
        Assert.True(_pending.TryPeek(out _, out long due));
        Assert.Equal(0x030201, due);
    }

    [Fact]
    public void Those_in_front_of_an_offset_are_found_unless_they_are_too_long_together()
    {
        for (int i = 0; i < 10; i++)
            _pending.Add(i * 10, 5000, 1, 100);
        Assert.Equal([0, 10, 20], _pending.Before(30, 300));
        Assert.Empty(_pending.Before(30, 299));
        Assert.Empty(_pending.Before(0, 1000));
        Assert.Equal(10, _pending.Before(1000, 1000).Count);
    }

    [Fact]
    public void A_copy_takes_the_place_of_a_batch_and_leaves_it_in_its_turn()
    {
        for (int i = 0; i < 3; i++)
            _pending.Add(i, 5000, 1, 100);
        for (int i = 10; i < 1000; i++)
            _pending.AddCopy(i, 1, 5000, 1, 100);
        _pending.AddCopy(1000, 0, 5000, 1, 100);
        Assert.Equal(
            (3, 3L, 300L, 2L, 3),
            (_pending.Count, _pending.Messages, _pending.Bytes, _pending.FirstOffset, _pending.Queued)
        );
        Assert.Equal([2, 1], _pending.Before(1000, 1000));
        Assert.True(_pending.TryFind(1, out long offset) && offset == 999);
        Assert.False(_pending.TryFind(999, out _));
        Assert.False(_pending.Remove(1000));

        var loaded = new PendingDelays();
        loaded.Load(_pending.Save());
        Assert.Equal((3, 3L, 300L, 2L), (loaded.Count, loaded.Messages, loaded.Bytes, loaded.FirstOffset));
        Assert.True(loaded.TryFind(0, out offset) && offset == 1000);
        Assert.Equal([0, 1, 2], Drain());
        Assert.Equal((0, 0L, long.MaxValue), (_pending.Count, _pending.Bytes, _pending.FirstOffset));
    }

    [Fact]
    public void A_copy_is_found_without_the_batch_that_it_is_of()
    {
        _pending.AddCopy(50, 3, 5000, 2, 100);
        Assert.Equal((1, 2L, 50L), (_pending.Count, _pending.Messages, _pending.FirstOffset));
        Assert.Equal([3], Drain());
    }

    [Fact]
    public void What_is_cancelled_is_kept_over_a_copy_and_a_state_and_the_last_one_takes_its_batch_along()
    {
        _pending.Add(10, 5000, 4, 100);
        _pending.Add(20, 6000, 1, 100);
        Assert.Equal([10, 10, 20, -1, -1], _pending.FindBatches([12, 10, 20, 14, 9]));
        Assert.True(_pending.Cancel(10, 11) && _pending.Cancel(10, 13) && _pending.Cancel(20, 20));
        Assert.False(_pending.Cancel(10, 11) || _pending.Cancel(20, 20) || _pending.Cancel(10, 14));
        Assert.Equal((1, 2L), (_pending.Count, _pending.Messages));
        _pending.AddCopy(30, 10, 5000, 4, 100);

        var loaded = new PendingDelays();
        Assert.Equal([7], loaded.Load([.. _pending.Save(), 7]).ToArray());
        Assert.Equal((1, 2L, 30L), (loaded.Count, loaded.Messages, loaded.FirstOffset));
        Assert.Equal([11, 13], loaded.CancelledOf(10)!.Order());
        Assert.Equal([10, -1, 10, -1], loaded.FindBatches([10, 11, 12, 30]));
        Assert.True(loaded.Cancel(10, 10) && loaded.Cancel(10, 12));
        Assert.Equal((0, 0L, 0L, long.MaxValue), (loaded.Count, loaded.Messages, loaded.Bytes, loaded.FirstOffset));
    }

    private List<long> Drain()
    {
        var offsets = new List<long>();
        while (_pending.TryPeek(out long offset, out _))
        {
            offsets.Add(offset);
            _pending.Remove(offset);
        }
        return offsets;
    }
}

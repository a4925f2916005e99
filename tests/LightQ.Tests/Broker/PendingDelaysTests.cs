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
            _pending.Add(offset, due, 2);
        Assert.Equal((5, 10L, 0L), (_pending.Count, _pending.Messages, _pending.FirstOffset));
        Assert.Equal([1, 6, 9, 5, 0], Drain());
        Assert.Equal((0, 0L, long.MaxValue), (_pending.Count, _pending.Messages, _pending.FirstOffset));
    }

    [Fact]
    public void What_was_removed_is_passed_over_and_the_first_offset_moves_on()
    {
        for (int i = 0; i < 5; i++)
            _pending.Add(i, 100 - i, 1);
        _pending.Remove(4);
        _pending.Remove(0);
        _pending.Remove(0);
        _pending.Remove(77);
        _pending.Add(1, 1, 50);
        Assert.Equal((3, 3L, 1L), (_pending.Count, _pending.Messages, _pending.FirstOffset));
        Assert.Equal([3, 2, 1], Drain());
    }

    [Fact]
    public void What_was_saved_is_loaded_and_what_follows_it_is_left()
    {
        for (int i = 0; i < 1000; i++)
            _pending.Add(i * 3, 5000 - i, i);
        byte[] state = [.. _pending.Save(), 1, 2, 3];
        var loaded = new PendingDelays();
        Assert.Equal([1, 2, 3], loaded.Load(state).ToArray());
        Assert.Equal((_pending.Count, _pending.Messages, _pending.FirstOffset), (loaded.Count, loaded.Messages, loaded.FirstOffset));
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

using LightQ.Broker.DeadLetters;
using Xunit;

namespace LightQ.Tests.Broker.DeadLetters;

public sealed class SettledLettersTests
{
    [Fact]
    public void Nothing_is_settled_at_first()
    {
        Assert.False(SettledLetters.None.Contains(0));
        Assert.Equal((0L, 0), (SettledLetters.None.Next, SettledLetters.None.Pieces));
        Assert.Empty(SettledLetters.None.Encode());
    }

    [Fact]
    public void Single_letters_are_kept_in_pieces_and_join_the_position()
    {
        SettledLetters settled = SettledLetters.None.With([7, 3, 4, 9, 3]);
        Assert.Equal(3, settled.Pieces);
        Assert.Equal([3L, 4, 7, 9], Settled(settled));
        settled = SettledLetters.Decode(settled.Next, settled.Encode());
        Assert.Equal([3L, 4, 7, 9], Settled(settled));
        settled = settled.With([0, 1, 2]);
        Assert.Equal((5L, 2), (settled.Next, settled.Pieces));
        settled = settled.WithNext(8);
        Assert.Equal((8L, 1), (settled.Next, settled.Pieces));
        Assert.Same(settled, settled.WithNext(2));
        Assert.Equal((10L, 0), (settled.With([8]).Next, settled.With([8]).Pieces));
    }

    [Fact]
    public void Random_changes_agree_with_a_set()
    {
        var random = new Random(42);
        var model = new HashSet<long>();
        SettledLetters settled = SettledLetters.None;
        for (int i = 0; i < 500; i++)
        {
            long[] more = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => (long)random.Next(100))];
            model.UnionWith(more);
            settled = settled.With(more);
            if (i % 50 == 0)
            {
                long next = random.Next(20);
                model.UnionWith(Enumerable.Range(0, (int)next).Select(n => (long)n));
                settled = settled.WithNext(next);
            }
            settled = SettledLetters.Decode(settled.Next, settled.Encode());
            Assert.Equal(model.Order(), Settled(settled));
        }
    }

    [Theory]
    [InlineData(new byte[] { 1 })]
    [InlineData(new byte[] { 2, 0, 0, 0, 0, 0, 0, 0 })]
    [InlineData(new byte[] { 1, 0, 0, 0, 0, 0, 0, 0, 9 })]
    public void A_state_that_is_none_counts_as_the_position(byte[] state)
    {
        SettledLetters settled = SettledLetters.Decode(5, state);
        Assert.Equal((5L, 0), (settled.Next, settled.Pieces));
    }

    [Theory]
    [InlineData(6, 6)]
    [InlineData(7, 6)]
    [InlineData(4, 8)]
    [InlineData(-1, 8)]
    public void Pieces_that_contradict_each_other_count_as_the_position(long first, long end)
    {
        byte[] state = new byte[24];
        state[0] = 1;
        BitConverter.TryWriteBytes(state.AsSpan(8), first);
        BitConverter.TryWriteBytes(state.AsSpan(16), end);
        Assert.Equal(0, SettledLetters.Decode(5, state).Pieces);
    }

    private static long[] Settled(SettledLetters settled) =>
        [.. Enumerable.Range(0, 120).Select(i => (long)i).Where(settled.Contains)];
}

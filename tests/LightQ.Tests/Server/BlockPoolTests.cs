using LightQ.Server.Transport;
using Xunit;

namespace LightQ.Tests.Server;

public sealed class BlockPoolTests
{
    [Fact]
    public void A_block_that_came_back_is_lent_again()
    {
        var pool = new BlockPool(16, kept: 2);
        byte[] block = pool.Rent();
        pool.Return(block);

        Assert.Same(block, pool.Rent());
    }

    [Fact]
    public void Blocks_that_nobody_has_are_let_go_and_those_that_are_lent_come_back()
    {
        var pool = new BlockPool(16, kept: 2);
        byte[] lent = pool.Rent(),
            free = pool.Rent();
        pool.Return(free);

        pool.Trim();
        pool.Return(lent);

        Assert.Same(lent, pool.Rent());
        Assert.NotSame(free, pool.Rent());
    }

    [Fact]
    public void A_block_that_has_grown_for_a_long_frame_is_not_kept()
    {
        var pool = new BlockPool(16, kept: 2);
        byte[]? block = pool.Rent();
        byte[] small = block;
        (int start, int end) = (0, 16);

        pool.MakeRoom(ref block, ref start, ref end, least: 4);
        Assert.Equal(32, block.Length);
        pool.Return(block);

        Assert.Same(small, pool.Rent());
        Assert.NotSame(block, pool.Rent());
    }
}

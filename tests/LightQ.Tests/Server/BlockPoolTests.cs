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

    [Fact]
    public void Where_large_blocks_are_scarce_what_outgrows_a_small_one_gets_a_large_one_at_once()
    {
        var pools = new DataPlaneBlocks();
        while (!pools.AreScarce)
            pools.Receive.Rent();
        int lent = pools.Receive.Lent;
        (BlockPool blocks, byte[]? block, int start, int end) = (pools.Greeting, null, 0, 0);
        pools.MakeRoom(ref blocks, isWide: true, ref block, ref start, ref end, smallestPart: 4);
        Assert.Equal((pools.Greeting.BlockBytes, lent), (block.Length, pools.Receive.Lent));
        byte[] small = block;
        small[100] = 7;
        (start, end) = (100, small.Length);

        pools.MakeRoom(ref blocks, isWide: true, ref block, ref start, ref end, smallestPart: 4);

        Assert.Equal((DataPlaneBlocks.ReceiveBytes, lent + 1), (block.Length, pools.Receive.Lent));
        Assert.Equal((7, 0, small.Length - 100), (block[0], start, end));
        Assert.Same(small, pools.Greeting.Rent());
        blocks.Return(block);
        Assert.Equal(lent, pools.Receive.Lent);
    }
}

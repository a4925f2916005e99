using LightQ.Client.Connections;
using LightQ.Client.Consuming;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class DeliveryMemoryTests
{
    /// <summary>Whose runs they are does not matter here.</summary>
    private const Subscription Nobody = null!;

    [Fact]
    public void Small_runs_in_very_many_blocks_are_copied_together()
    {
        var pool = new ReceiveBlockPool();
        var memory = new DeliveryMemory(pool, 1024 * 1024);
        var kept = new List<Delivery>();
        for (int i = 0; i < 1000; i++)
        {
            ReceiveBlock block = pool.Rent();
            block.Bytes.AsSpan(100, 64).Fill((byte)i);
            kept.Add(memory.Take(Nobody, block, 100, 64));
            block.Bytes.AsSpan(164).Fill(0xEE);
            block.Release();
        }
        Assert.True(memory.Blocks < 30, $"{memory.Blocks} blocks for 64,000 bytes");
        for (int i = 0; i < kept.Count; i++)
        {
            Assert.Equal(-1, kept[i].Block!.Bytes.AsSpan(kept[i].Offset, kept[i].Length).IndexOfAnyExcept((byte)i));
            memory.Release(kept[i]);
        }
        Assert.Equal(0, memory.Blocks);
    }

    [Fact]
    public void A_run_is_kept_where_it_was_received_as_long_as_few_blocks_are_held()
    {
        var pool = new ReceiveBlockPool();
        var memory = new DeliveryMemory(pool, 1024 * 1024);
        ReceiveBlock block = pool.Rent();
        Delivery delivery = memory.Take(Nobody, block, 8, 16);
        Assert.Same(block, delivery.Block);
        block.Release();
        Assert.True(block.IsExclusive);
        memory.Release(delivery);
    }
}

using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

public sealed class WaitStrategyTests
{
    public static TheoryData<WaitStrategy> Strategies =>
        [new BusySpinWaitStrategy(), new YieldingWaitStrategy(), new BlockingWaitStrategy()];

    [Theory]
    [MemberData(nameof(Strategies))]
    public async Task A_wait_ends_with_the_next_publication(WaitStrategy strategy)
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var ring = new ByteRing(memory, 64, waitStrategy: strategy);
        var barrier = new SequenceBarrier(ring);
        Task<long> waiting = Task.Run(() => barrier.WaitFor(0, out long available) ? available : -1);
        TestEntries.Publish(ring, 64, 1);
        Assert.Equal(64, await waiting);
    }

    [Theory]
    [MemberData(nameof(Strategies))]
    public async Task An_alert_ends_a_wait(WaitStrategy strategy)
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var barrier = new SequenceBarrier(new ByteRing(memory, 64, waitStrategy: strategy));
        Task<bool> waiting = Task.Run(() => barrier.WaitFor(0, out _));
        barrier.Alert();
        Assert.False(await waiting);
        Assert.True(barrier.IsAlerted);
        barrier.ClearAlert();
        Assert.False(barrier.IsAlerted);
    }

    [Theory]
    [MemberData(nameof(Strategies))]
    public async Task Cancellation_ends_a_wait(WaitStrategy strategy)
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var barrier = new SequenceBarrier(new ByteRing(memory, 64, waitStrategy: strategy));
        using var cancellation = new CancellationTokenSource();
        Task<long> waiting = Task.Run(() => barrier.WaitFor(0, cancellation.Token));
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting);
    }

    [Theory]
    [InlineData(RingProducers.Single)]
    [InlineData(RingProducers.Multiple)]
    public async Task A_blocking_wait_never_misses_a_wake(RingProducers producers)
    {
        // Ping and pong: each side sleeps until the other publishes, so one missed wake stops both for good.
        const int Rounds = 5_000;
        using RingMemory pingMemory = RingMemory.Pinned(1024),
            pongMemory = RingMemory.Pinned(1024);
        var ping = new ByteRing(pingMemory, 64, producers, new BlockingWaitStrategy());
        var pong = new ByteRing(pongMemory, 64, producers, new BlockingWaitStrategy());
        CancellationToken ending = TestContext.Current.CancellationToken;
        Task echo = Task.Run(() => Echo(ping, pong, Rounds), ending);
        var barrier = new SequenceBarrier(pong);
        Task rounds = Task.Run(
            () =>
            {
                for (int i = 0; i < Rounds; i++)
                {
                    TestEntries.Publish(ping, 16, i);
                    Assert.True(barrier.WaitFor(i * 16L, out _));
                }
            },
            ending
        );
        await Task.WhenAll(echo, rounds).WaitAsync(TimeSpan.FromSeconds(30), ending);
        Assert.Equal(Rounds * 16, pong.Published);
    }

    [Fact]
    public void A_barrier_waits_for_the_consumers_before_it()
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        var ring = new ByteRing(memory, 64);
        var first = new Sequence();
        var barrier = new SequenceBarrier(ring, first);
        TestEntries.Publish(ring, 64, 1);
        TestEntries.Publish(ring, 64, 2);
        Assert.Equal(0, barrier.Available);
        first.Value = 64;
        Assert.True(barrier.WaitFor(0, out long available));
        Assert.Equal(64, available);
    }

    private static void Echo(ByteRing from, ByteRing to, int rounds)
    {
        var barrier = new SequenceBarrier(from);
        for (int i = 0; i < rounds; i++)
        {
            Assert.True(barrier.WaitFor(i * 16L, out _));
            TestEntries.Publish(to, 16, i);
        }
    }
}

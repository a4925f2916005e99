using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

public sealed class BatchEventProcessorTests : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly RingMemory _memory = RingMemory.Pinned(1024);

    public static TheoryData<WaitStrategy> Strategies =>
        [new BusySpinWaitStrategy(), new YieldingWaitStrategy(), new BlockingWaitStrategy()];

    [Theory]
    [MemberData(nameof(Strategies))]
    public void Everything_published_is_handled_in_order_and_a_drained_halt_leaves_nothing(WaitStrategy strategy)
    {
        const int Entries = 20_000;
        var ring = new ByteRing(_memory, 128, waitStrategy: strategy);
        var handler = new Recorder();
        using var processor = new BatchEventProcessor<Recorder>(ring, handler);
        processor.Start();
        for (int i = 0; i < Entries; )
        {
            i +=
                TestEntries.TryPublish(ring, 16 + (i % 14 * 8), i) == ClaimResult.Claimed ? 1
                : Thread.Yield() ? 0
                : 0;
        }

        processor.Halt(drain: true);
        Assert.True(processor.Join(Patience));
        Assert.Null(processor.Failure);
        Assert.Equal(Enumerable.Range(0, Entries), handler.Numbers);
        Assert.Equal(0, ring.GateCount);
        Assert.Equal(ring.Published, processor.Sequence.Value);
    }

    [Fact]
    public void A_failing_handler_is_kept_as_the_failure_and_the_ring_goes_on()
    {
        var ring = new ByteRing(_memory, 128, waitStrategy: new BlockingWaitStrategy());
        var failure = new InvalidOperationException("handler");
        using var processor = new BatchEventProcessor<Recorder>(
            ring,
            new Recorder(failAt: 3, failure),
            new BatchEventProcessorOptions { MaxRunBytes = 1 }
        );
        for (int i = 0; i < 8; i++)
        {
            TestEntries.Publish(ring, 128, i);
        }

        Assert.Equal(ClaimResult.Full, TestEntries.TryPublish(ring, 128, 8));
        processor.Run();
        Assert.True(processor.HasEnded);
        Assert.Same(failure, processor.Failure);
        Assert.Equal(3 * 128, processor.Sequence.Value);
        for (int i = 8; i < 100; i++)
        {
            TestEntries.Publish(ring, 128, i);
        }
    }

    [Fact]
    public void A_processor_starts_where_asked()
    {
        var ring = new ByteRing(_memory, 128);
        TestEntries.Publish(ring, 128, 0);
        TestEntries.Publish(ring, 128, 1);
        Recorder all = new(),
            later = new();
        using var fromTail = new BatchEventProcessor<Recorder>(
            ring,
            all,
            new BatchEventProcessorOptions { From = ring.Tail }
        );
        using var fromNow = new BatchEventProcessor<Recorder>(ring, later);
        TestEntries.Publish(ring, 128, 2);
        foreach (BatchEventProcessor<Recorder> processor in new[] { fromTail, fromNow })
        {
            processor.Start();
            processor.Halt(drain: true);
            Assert.True(processor.Join(Patience));
        }

        Assert.Equal([0, 1, 2], all.Numbers);
        Assert.Equal([2], later.Numbers);
    }

    [Fact]
    public void A_second_stage_sees_only_what_the_first_is_done_with()
    {
        const int Entries = 5_000;
        var ring = new ByteRing(_memory, 128);
        var first = new Recorder();
        using var one = new BatchEventProcessor<Recorder>(ring, first);
        var second = new Follower(first);
        using var two = new BatchEventProcessor<Follower>(ring, second, null, one.Sequence);
        one.Start();
        two.Start();
        for (int i = 0; i < Entries; )
        {
            i +=
                TestEntries.TryPublish(ring, 64, i) == ClaimResult.Claimed ? 1
                : Thread.Yield() ? 0
                : 0;
        }

        one.Halt(drain: true);
        Assert.True(one.Join(Patience));
        two.Halt(drain: true);
        Assert.True(two.Join(Patience));
        Assert.Null(two.Failure);
        Assert.Equal(Entries, second.Seen);
    }

    [Fact]
    public void A_processor_runs_once_and_ends_at_once_if_never_run()
    {
        var ring = new ByteRing(_memory, 128);
        var processor = new BatchEventProcessor<Recorder>(ring, new Recorder());
        Assert.Equal(1, ring.GateCount);
        processor.Dispose();
        Assert.True(processor.HasEnded);
        Assert.Equal(0, ring.GateCount);
        Assert.Throws<InvalidOperationException>(processor.Start);
    }

    [Fact]
    public void Aborted_entries_do_not_hold_the_gate()
    {
        var ring = new ByteRing(_memory, 256, RingProducers.Multiple);
        using var processor = new BatchEventProcessor<Recorder>(ring, new Recorder());
        processor.Start();
        for (int i = 0; i < 100; )
        {
            if (ring.TryClaim(256, out RingClaim claim) == ClaimResult.Claimed)
            {
                ring.Abort(claim);
                i++;
            }
        }

        Assert.Null(processor.Failure);
    }

    public void Dispose() => _memory.Dispose();

    private sealed class Recorder(int failAt = -1, Exception? failure = null) : IRunHandler
    {
        private volatile int _count;

        public List<int> Numbers { get; } = [];

        public int Count => _count;

        public void OnRun(in RingRun run)
        {
            foreach (ReadOnlySpan<byte> entry in run)
            {
                if (TestEntries.Number(entry) == failAt)
                {
                    throw failure!;
                }

                Numbers.Add(TestEntries.Number(entry));
            }

            _count = Numbers.Count;
        }
    }

    private sealed class Follower(Recorder leader) : IRunHandler
    {
        public int Seen { get; private set; }

        public void OnRun(in RingRun run)
        {
            foreach (ReadOnlySpan<byte> entry in run)
            {
                Assert.True(TestEntries.Number(entry) < leader.Count);
                Seen++;
            }
        }
    }
}

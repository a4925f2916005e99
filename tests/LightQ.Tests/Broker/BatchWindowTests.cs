using LightQ.Broker.Producers;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Broker;

/// <summary>
/// A named producer has no more batches under way than the log remembers of it, whatever it knows of that.
/// </summary>
public sealed class BatchWindowTests : EngineTest
{
    private const int Most = ProtocolLimits.UnacknowledgedBatches;
    private const int LargeWindow = 1 << 20;

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(Most + 1)]
    public void A_batch_with_as_many_unacknowledged_before_it_as_there_may_be_is_refused(int together)
    {
        ProducerStream producer = Open(epoch: 1); // Whose acks nobody sends.
        for (int sent = 0; sent <= Most; sent += together)
            Publish(producer, Run(sent, together, epoch: 1));

        Assert.Equal(ErrorCode.WindowExceeded, producer.CloseRequested?.Code);
        Assert.Contains("1024 batches without an ack", producer.CloseRequested?.Message, StringComparison.Ordinal);
        Assert.Equal(Most, Log.EndOffset);
    }

    [Fact]
    public void An_anonymous_producer_has_no_such_limit()
    {
        ProducerStream producer = OpenProducer(window: LargeWindow);
        for (int i = 0; i < 3 * Most; i++)
            Publish(producer, Batch((ulong)i, 1, 0));

        Assert.Null(producer.CloseRequested);
        Assert.Equal(3 * Most, Log.EndOffset);
    }

    [Fact]
    public void What_comes_while_the_client_has_not_read_acks_waits_until_it_has()
    {
        ProducerStream producer = Open(epoch: 1);
        uint echo = 0;
        for (int i = 0; i < Most + 10; i++)
        {
            Publish(producer, Run(i, 1, epoch: 1));
            uint asked = TakeOutput(producer, out _);
            Assert.True(asked == 0 || echo == 0, "One question at a time.");
            echo = Math.Max(echo, asked);
        }

        Assert.NotEqual(0u, echo);
        Assert.Equal(Most, Log.EndOffset);
        Assert.Null(producer.CloseRequested);
        Echo(producer, echo + 1);
        Assert.Equal(Most, Log.EndOffset);
        Echo(producer, echo);
        Assert.Equal(Most + 10, Log.EndOffset);
        Assert.NotEqual(0u, TakeOutput(producer, out AckRange[] ranges));
        Assert.Equal([new AckRange(Most, 10, ErrorCode.None, Most)], ranges);
    }

    [Fact]
    public void A_client_that_sends_on_without_reading_acks_is_told_when_the_window_is_full_twice_over_and_what_came_before_is_stored()
    {
        ProducerStream producer = Open(epoch: 1);
        var acked = new List<AckRange>();
        for (int i = 0; i < 3 * Most; i++)
        {
            Publish(producer, Run(i, 1, epoch: 1));
            TakeOutput(producer, out AckRange[] ranges);
            acked.AddRange(ranges);
        }
        Assert.Null(producer.CloseRequested);

        for (uint echo = 1; echo < 20 && producer.CloseRequested is null; echo++)
        {
            Echo(producer, echo);
            TakeOutput(producer, out AckRange[] ranges);
            acked.AddRange(ranges);
        }

        Assert.Equal(ErrorCode.WindowExceeded, producer.CloseRequested?.Code);
        Assert.Equal(new AckRange(2 * Most, 1, ErrorCode.WindowExceeded, -1), acked[^1]);
        Assert.Equal(2 * Most, acked[..^1].Sum(r => r.Count));
        Assert.Equal(2 * Most, Log.EndOffset);
    }

    [Fact]
    public void A_client_that_does_not_know_the_limit_is_stored_once_whatever_acks_it_loses()
    {
        int seed = FaultRun.NewSeed();
        var random = new Random(seed);
        var client = new Client(batches: 60_000);
        uint epoch = 0;
        while (!client.IsDone)
        {
            ProducerStream stream = Open(++epoch);
            client.Connect(random.Next(2) == 0 ? 1 : 200);
            for (int steps = random.Next(1, 400); steps > 0 && client.Step(stream, random, epoch); steps--)
                Assert.True(client.Problem is null, $"LIGHTQ_SEED={seed}, epoch {epoch}: {client.Problem}");
            Assert.True(client.Problem is null, $"LIGHTQ_SEED={seed}, epoch {epoch}: {client.Problem}");
            stream.Release();
        }
        Assert.Equal(client.Batches, Log.EndOffset);
    }

    private ProducerStream Open(uint epoch) => OpenProducer(epoch, OpenNamed(epoch), epoch, window: LargeWindow);

    private static byte[] Run(long sequence, int batches, uint epoch) =>
        [.. Enumerable.Range(0, batches).SelectMany(i => Batch((ulong)(sequence + i), 1, 0, 42, epoch))];

    private static uint TakeOutput(ProducerStream producer, out AckRange[] ranges)
    {
        Span<AckRange> taken = stackalloc AckRange[64];
        PublishOutput output = producer.TakeOutput(taken);
        ranges = taken[..output.Ranges].ToArray();
        return output.Echo;
    }

    private static void Echo(ProducerStream producer, uint echo)
    {
        using (TurnScope.Enter())
            producer.OnEcho(echo);
    }

    /// <summary>
    /// Sends what its window of bytes takes, reads acks now and then, and sends again whatever it has read no ack of
    /// when its connection was lost.
    /// </summary>
    private sealed class Client(int batches)
    {
        private readonly Queue<(AckRange[] Ranges, uint Credit, uint Echo)> _wire = new();
        private long _read;
        private long _next;
        private long _window;
        private int _readShare;

        public int Batches => batches;

        public bool IsDone => _read == batches;

        public string? Problem { get; private set; }

        /// <param name="readShare">It reads after one in so many sends.</param>
        public void Connect(int readShare)
        {
            _wire.Clear();
            (_next, _window, _readShare) = (_read, LargeWindow, readShare);
        }

        /// <returns>False when it has to connect again, or is done.</returns>
        public bool Step(ProducerStream stream, Random random, uint epoch)
        {
            byte[] batch = Run(0, 1, epoch);
            int count = (int)Math.Min(random.Next(1, 100), Math.Min(batches - _next, _window / batch.Length));
            if (count > 0)
            {
                _window -= count * batch.Length;
                Publish(stream, Run(_next, count, epoch));
                _next += count;
            }
            Span<AckRange> ranges = stackalloc AckRange[64];
            PublishOutput output = stream.TakeOutput(ranges);
            if (output is not { Ranges: 0, Credit: 0, Echo: 0 })
                _wire.Enqueue((ranges[..output.Ranges].ToArray(), output.Credit, output.Echo));
            return count > 0 && random.Next(_readShare) != 0 ? !IsDone : Read(stream);
        }

        private bool Read(ProducerStream stream)
        {
            while (_wire.TryDequeue(out (AckRange[] Ranges, uint Credit, uint Echo) sent))
            {
                _window += sent.Credit;
                foreach (AckRange range in sent.Ranges)
                {
                    if (range.Error == ErrorCode.WindowExceeded)
                        return false;
                    if (
                        range.Error != ErrorCode.None
                        || range.BaseOffset != (long)range.FirstSequence
                        || range.FirstSequence > (ulong)_read
                    )
                    {
                        Problem = $"{range} with acks read up to {_read}";
                    }

                    _read = Math.Max(_read, (long)range.FirstSequence + range.Count);
                }
                if (sent.Echo != 0)
                    Echo(stream, sent.Echo);
            }
            return !IsDone;
        }
    }
}

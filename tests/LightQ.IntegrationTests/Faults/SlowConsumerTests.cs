using System.Diagnostics;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.IntegrationTests.DataPlane;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// N4: one subscriber of ten stops. What its policy promises holds, and the nine others do not notice.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "N4")]
[Trait("Tier", "C")]
public sealed class SlowConsumerTests
{
    private const int Others = 9;
    private const int BodyBytes = 1000;
    private const int RingBytes = 1 << 20;

    /// <summary>
    /// What the process may grow by while one subscriber lags: the memory for backlogs, and what clients and sockets of
    /// the test hold (30 MB). A broker that kept all for the slow one would need 20 MB more at tier C.
    /// </summary>
    private const long GrowthLimit = (64L + 32L) << 20;

    private static readonly TimeSpan SlowTimeout = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);

    public static MatrixTheoryData<SlowPolicy, StallKind> Cases { get; } =
        new(
            [
                SlowPolicy.Block,
                SlowPolicy.DropOldest,
                SlowPolicy.DropNewest,
                SlowPolicy.Disconnect,
                SlowPolicy.SpillToDisk,
            ],
            FaultRun.Tier.Length == 0 ? [StallKind.Granting] : [StallKind.Granting, StallKind.Reading]
        ); // The other fills a socket first.

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task Every_offset_is_delivered_or_in_one_gap_and_the_others_get_everything(
        SlowPolicy policy,
        StallKind stops
    )
    {
        var run = new FaultRun(
            $"N4.{policy}.{stops}",
            $"one subscriber of ten, {policy}, stops {stops.ToString().ToLowerInvariant()}"
        );
        int messages = FaultRun.Times(plain: 8_000, c: 100_000, n: 800_000);
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = o.DataPlane with
                {
                    Heartbeat = TimeSpan.FromMinutes(5),
                    StalledReaderTimeout = TimeSpan.FromHours(1),
                },
            }
        );
        var settings = new TopicSettings { MaxMessageBytes = 16 * 1024, RingBytes = RingBytes };
        Partition partition = (
            await Task.Run(() => server.Broker.CreateTopic("t", settings), TestContext.Current.CancellationToken)
        ).Partitions[0];
        await using RawClient stalled = await RawClient.ConnectAsync(server.DataPort);
        await stalled.SubscribeAsync(
            "t",
            1,
            stops == StallKind.Reading ? uint.MaxValue : 64 * 1024,
            slow: policy,
            slowTimeout: (uint)SlowTimeout.TotalMilliseconds
        );
        Subscription slow = partition.Subscriptions[0];
        await using var watch = new Watch(server.Broker, slow);
        LightQClient[] clients =
        [
            .. Enumerable.Range(0, Others).Select(_ => new LightQClient(server.ConnectionString)),
        ];
        Task<long>[] consuming = [.. clients.Select(c => ConsumeAsync(c, messages))];
        await Eventually.TrueAsync(
            () => partition.Subscriptions.Length == Others + 1,
            Patience,
            () => "not all subscribed"
        );

        var took = Stopwatch.StartNew();
        await PublishAsync(clients[0], messages);
        run.Figure("published in ms", (long)took.Elapsed.TotalMilliseconds);
        long[] seen = await Task.WhenAll(consuming).WaitAsync(Patience, TestContext.Current.CancellationToken);
        await watch.DisposeAsync();
        Account account = await ResumeAsync(stalled, slow, messages, grants: stops == StallKind.Granting);

        run.Figure("published", messages);
        run.Figure("delivered to the slow one", account.Delivered);
        run.Figure("in gaps of the slow one", account.Lost);
        run.Figure("gaps", account.Gaps);
        run.Figure("lost to the others", (long)messages * Others - seen.Sum());
        run.Figure("most backlog kept, bytes", watch.Backlog);
        run.Figure("most memory for backlogs, bytes", watch.Memory);
        run.Figure("heap grew by, bytes", watch.Growth);
        run.Report();
        foreach (LightQClient client in clients)
            await client.DisposeAsync();
        await server.ConnectionsAsync(account.IsClosed ? 0 : 1);

        Assert.All(seen, count => Assert.Equal(messages, count));
        Assert.Equal(messages, partition.Log.EndOffset);
        Assert.True(watch.Growth < GrowthLimit, $"the heap grew by {watch.Growth} bytes");
        Assert.True(
            watch.Memory <= new LightQ.Broker.BrokerOptions().BacklogMemoryBytes,
            $"{watch.Memory} bytes for backlogs"
        );
        await Eventually.TrueAsync(
            () => server.Broker.BacklogMemoryBytes == 0,
            Patience,
            () => $"{server.Broker.BacklogMemoryBytes} bytes of a backlog stay in memory"
        );
        Assert.Equal((account.Lost, account.Gaps), (slow.Drops, partition.Counters.Gaps));
        AssertPromise(policy, account, messages, watch);
        await Eventually.TrueAsync(
            () =>
                !Directory.Exists(Path.Combine(server.Directory, "spill"))
                || Directory.GetFiles(Path.Combine(server.Directory, "spill")).Length == 0,
            Patience,
            () => "a file of a spill stays"
        );
    }

    private static void AssertPromise(SlowPolicy policy, Account account, int messages, Watch watch)
    {
        switch (policy)
        {
            case SlowPolicy.Block or SlowPolicy.Disconnect:
                Assert.True(account.IsClosed);
                Assert.Equal(0, account.Gaps);
                Assert.True(account.Delivered < messages);
                Assert.True(account.Code is null or ErrorCode.SlowConsumer);
                break;
            case SlowPolicy.SpillToDisk:
                Assert.Equal(messages, account.Delivered);
                Assert.True(watch.Backlog > RingBytes);
                break;
            default:
                Assert.Equal(messages, account.Delivered + account.Lost);
                Assert.True(account.Lost > 0);
                break;
        }
        if (policy == SlowPolicy.DropNewest)
            Assert.Equal(1, account.Gaps);
    }

    /// <summary>
    /// Reads again, up to the last message or the end of the subscription, and sees that nothing is missing or comes
    /// twice.
    /// </summary>
    private static async Task<Account> ResumeAsync(
        RawClient client,
        Subscription subscription,
        int messages,
        bool grants
    )
    {
        if (grants)
            await client.SendAsync(new CreditFrame(uint.MaxValue), 1);
        var account = new Account();
        while (account.Next < messages)
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync();
            switch (header.Type)
            {
                case FrameType.Deliver:
                    account.Deliver(body);
                    break;
                case FrameType.Gap:
                    account.Gap(FrameCodec.Read<GapFrame>(body));
                    break;
                case FrameType.Closed:
                    ClosedFrame closed = FrameCodec.Read<ClosedFrame>(body);
                    account.Close(closed.Code);
                    Assert.Contains($"messages {account.Next} to ", closed.Message, StringComparison.Ordinal);
                    client.Reset();
                    return account;
                case 0:
                    // It did not read, and so could not be told.
                    account.Close(null);
                    Assert.Equal(ErrorCode.SlowConsumer, subscription.CloseRequested?.Code);
                    return account;
                default:
                    Assert.Equal(FrameType.Ping, header.Type);
                    break;
            }
        }
        return account;
    }

    private static async Task PublishAsync(LightQClient client, int messages)
    {
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );
        byte[] body = new byte[BodyBytes];
        for (int i = 0; i < messages; i++)
        {
            BitConverter.TryWriteBytes(body, i);
            while (!producer.TryPublish(body))
                await producer.WaitForRoomAsync(TestContext.Current.CancellationToken);
        }
        await producer.FlushAsync(TestContext.Current.CancellationToken);
    }

    private static async Task<long> ConsumeAsync(LightQClient client, int messages)
    {
        long next = 0;
        await foreach (
            Message message in client
                .ConsumeAsync("t", new ConsumeOptions { Start = StartPosition.Earliest, GapAction = GapAction.Throw })
                .WithCancellation(TestContext.Current.CancellationToken)
        )
        {
            Assert.Equal(next, message.Offset);
            Assert.Equal(next, BitConverter.ToInt32(message.Body.Span));
            if (++next == messages)
                break;
        }
        return next;
    }

    /// <summary>What the slow subscriber was told of every offset, in order.</summary>
    private sealed class Account
    {
        public long Next { get; private set; }

        public long Delivered { get; private set; }

        public long Lost { get; private set; }

        public long Gaps { get; private set; }

        public bool IsClosed { get; private set; }

        /// <summary>Why it was closed; null when it could not be told.</summary>
        public ErrorCode? Code { get; private set; }

        public void Deliver(byte[] run)
        {
            foreach (BatchView batch in new BatchRun(run))
            {
                Assert.True(batch.VerifyHeader() && batch.VerifyPayload());
                foreach (RecordView record in batch.Records)
                {
                    Assert.Equal(Next, record.Offset);
                    Assert.Equal(Next, BitConverter.ToInt32(record.Body));
                    Next++;
                    Delivered++;
                }
            }
        }

        public void Gap(in GapFrame gap)
        {
            Assert.Equal((Next, GapReason.Dropped), (gap.FirstOffset, gap.Reason));
            Next = gap.LastOffset + 1;
            Lost += gap.LastOffset - gap.FirstOffset + 1;
            Gaps++;
        }

        public void Close(ErrorCode? code) => (IsClosed, Code) = (true, code);
    }

    /// <summary>Looks at what a lagging subscriber costs, again and again.</summary>
    private sealed class Watch : IAsyncDisposable
    {
        private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(5);

        /// <summary>
        /// How often everything that is no longer used is collected to see what is: often enough to meet the lag,
        /// seldom enough to leave the processor to it.
        /// </summary>
        private static readonly TimeSpan HeapInterval = TimeSpan.FromMilliseconds(250);
        private readonly CancellationTokenSource _stop = new();
        private readonly long _heapBefore = GC.GetTotalMemory(forceFullCollection: true);
        private readonly Task _watching;

        public Watch(LightQ.Broker.LightQBroker broker, Subscription slow) => _watching = WatchAsync(broker, slow);

        public long Backlog { get; private set; }

        public long Memory { get; private set; }

        /// <summary>
        /// The most that was in use in the heap beyond what was before: neither garbage nor the holes that earlier
        /// tests left, which the collector's own figures count.
        /// </summary>
        public long Growth { get; private set; }

        public async ValueTask DisposeAsync()
        {
            if (_stop.IsCancellationRequested)
                return;
            await _stop.CancelAsync();
            await _watching;
            LookAtHeap();
        }

        private async Task WatchAsync(LightQ.Broker.LightQBroker broker, Subscription slow)
        {
            using var timer = new PeriodicTimer(Interval);
            var sinceHeap = Stopwatch.StartNew();
            while (!_stop.IsCancellationRequested)
            {
                Backlog = Math.Max(Backlog, slow.KeptBytes);
                Memory = Math.Max(Memory, broker.BacklogMemoryBytes);
                if (sinceHeap.Elapsed >= HeapInterval)
                {
                    LookAtHeap();
                    sinceHeap.Restart();
                }
                await timer.WaitForNextTickAsync();
            }
        }

        private void LookAtHeap() =>
            Growth = Math.Max(Growth, GC.GetTotalMemory(forceFullCollection: true) - _heapBefore);
    }
}

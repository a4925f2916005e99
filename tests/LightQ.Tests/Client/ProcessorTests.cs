using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>What a processor says to the broker, with a clock that moves when told to.</summary>
public sealed class ProcessorTests
{
    private static readonly TimeSpan HalfALock = TimeSpan.FromSeconds(15);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_processor_joins_its_group_with_twice_as_many_in_flight_as_may_run()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using LightQProcessor processor = client.CreateProcessor(
            "orders",
            "billing",
            new() { MaxConcurrency = 8 }
        );
        processor.ProcessMessageAsync += _ => Task.CompletedTask;
        Task started = processor.StartAsync(Cancel);
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame frame, _) = await connection.SubscribeAsync();
        await started;

        SubscribeFrame subscribe = frame.As<SubscribeFrame>();
        Assert.Equal(
            ("orders", "billing", SettleMode.Explicit, 16u),
            (subscribe.Topic, subscribe.Group, subscribe.SettleMode, subscribe.MaxInFlight)
        );
    }

    [Fact]
    public async Task A_handler_is_cancelled_when_the_broker_refuses_to_renew()
    {
        var time = new ManualTime();
        await using Rig rig = await Rig.StartAsync(time, new());
        await rig.Begun.WaitAsync(Cancel);
        Assert.False(rig.HandlersToken.IsCancellationRequested);

        time.Advance(HalfALock);
        FakeFrame settle = await rig.Connection.ReadAsync(FrameType.Settle);
        Assert.Equal(new SettleRange(SettleKind.Renew, 9, 40, 1, 0), new SettleFrame(settle.Body)[0]);
        byte[] answer = new byte[SettledFrame.SizeOf(1)];
        SettledFrame.Write(
            answer,
            rig.Stream,
            settle.Header.Tag,
            [new SettledRange(SettleOutcome.LockExpired, 9, 40, 1)]
        );
        await rig.Connection.WriteRawAsync(answer);

        await rig.Cancelled.WaitAsync(Cancel);
    }

    [Fact]
    public async Task A_handler_is_cancelled_at_the_end_of_its_lock_when_nobody_answers()
    {
        var time = new ManualTime();
        await using Rig rig = await Rig.StartAsync(time, new());
        await rig.Begun.WaitAsync(Cancel);
        time.Advance(HalfALock);
        await rig.Connection.ReadAsync(FrameType.Settle);
        Assert.False(rig.HandlersToken.IsCancellationRequested);

        time.Advance(HalfALock);

        await rig.Cancelled.WaitAsync(Cancel);
    }

    [Fact]
    public async Task A_lock_is_renewed_no_longer_than_allowed()
    {
        var time = new ManualTime();
        await using Rig rig = await Rig.StartAsync(time, new() { MaxLockRenewal = HalfALock / 2 });
        await rig.Begun.WaitAsync(Cancel);
        time.Advance(HalfALock);
        Assert.False(rig.HandlersToken.IsCancellationRequested);
        time.Advance(HalfALock);
        await rig.Cancelled.WaitAsync(Cancel);

        await rig.Processor.StopAsync(Cancel);

        await rig.Connection.ReadAsync(FrameType.Close);
    }

    [Fact]
    public async Task A_lost_connection_cancels_the_handler_and_the_message_is_taken_again_on_the_next()
    {
        await using Rig rig = await Rig.StartAsync(TimeProvider.System, new());
        await rig.Begun.WaitAsync(Cancel);

        rig.Connection.Dispose();

        await rig.Cancelled.WaitAsync(Cancel);
        using FakeConnection next = await rig.Broker.AcceptAsync();
        (FakeFrame subscribe, _) = await next.SubscribeAsync();
        await next.DeliverAsync(
            subscribe.Header.Stream,
            new GroupDelivery(40, 1, 1, 2, 30_000),
            FakeConnection.Batch(40, "a"u8.ToArray())
        );
        FakeFrame settle = await next.ReadAsync(FrameType.Settle);
        Assert.Equal(new SettleRange(SettleKind.Complete, 1, 40, 1, 0), new SettleFrame(settle.Body)[0]);
    }

    [Fact]
    public async Task What_waits_when_nothing_moves_goes_back_in_the_order_of_offsets_and_is_not_overtaken()
    {
        var time = new ManualTime();
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { TimeProvider = time });
        await using LightQProcessor processor = client.CreateProcessor(
            "orders",
            "billing",
            new() { Ordering = ProcessingOrder.Key }
        );
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        processor.ProcessMessageAsync += args =>
        {
            begun.TrySetResult();
            return Task.Delay(Timeout.Infinite, args.CancellationToken);
        };
        Task started = processor.StartAsync(Cancel);
        using FakeConnection connection = await broker.AcceptAsync(features: ProtocolFeatures.Window);
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        await started;
        await DeliverAsync(first: 40, count: 9, id: 7);
        FakeFrame begin = await connection.ReadAsync(FrameType.Settle);
        byte[] answer = new byte[SettledFrame.SizeOf(1)];
        SettledFrame.Write(
            answer,
            subscribe.Header.Stream,
            begin.Header.Tag,
            [new SettledRange(SettleOutcome.Done, 7, 40, 1)]
        );
        await connection.WriteRawAsync(answer);
        await begun.Task.WaitAsync(Cancel);

        // It may be a moment until the last has arrived.
        Task<FakeFrame> window = connection.ReadAsync(FrameType.Window);
        while (!window.IsCompleted)
        {
            time.Advance(TimeSpan.FromSeconds(2));
            await Task.Yield();
        }
        Assert.Equal(1u, (await window).As<WindowFrame>().MaxInFlight);
        List<SettleRange> returned = [];
        while (returned.Sum(r => r.Count) < 8)
            returned.AddRange(await ReadReturnedAsync());
        Assert.Equal([new SettleRange(SettleKind.Return, 7, 41, 8)], returned);
        // Sent before the broker knew: it would overtake what comes again.
        await DeliverAsync(first: 60, count: 3, id: 8);
        Assert.Equal([new SettleRange(SettleKind.Return, 8, 60, 3)], await ReadReturnedAsync());

        Task DeliverAsync(long first, uint count, uint id) =>
            connection.DeliverAsync(
                subscribe.Header.Stream,
                new GroupDelivery(first, count, id, 1, 60_000),
                FakeConnection.Batch(
                    first,
                    [.. Enumerable.Range(0, (int)count).Select(i => (new[] { (byte)('a' + (i % 3)) }, "x"u8.ToArray()))]
                )
            );

        async Task<List<SettleRange>> ReadReturnedAsync()
        {
            byte[] body = (await connection.ReadAsync(FrameType.Settle)).Body;
            return [.. Enumerable.Range(0, new SettleFrame(body).Count).Select(i => new SettleFrame(body)[i])];
        }
    }

    /// <summary>
    /// A processor whose handler has message 40, locked for 30 s, and waits for its token at the first time.
    /// </summary>
    private sealed class Rig : IAsyncDisposable
    {
        private readonly TaskCompletionSource<CancellationToken> _begun = new(
            TaskCreationOptions.RunContinuationsAsynchronously
        );
        private readonly TaskCompletionSource _cancelled = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly LightQClient _client;

        private Rig(TimeProvider time, ProcessorOptions options)
        {
            _client = new LightQClient(Broker.Options with { TimeProvider = time });
            Processor = _client.CreateProcessor("orders", "billing", options);
            Processor.ProcessMessageAsync += HandleAsync;
        }

        public FakeBroker Broker { get; } = new();

        public LightQProcessor Processor { get; }

        public FakeConnection Connection { get; private set; } = null!;

        public uint Stream { get; private set; }

        public Task Begun => _begun.Task;

        public Task Cancelled => _cancelled.Task;

        public CancellationToken HandlersToken => _begun.Task.Result;

        public static async Task<Rig> StartAsync(TimeProvider time, ProcessorOptions options)
        {
            var rig = new Rig(time, options);
            Task started = rig.Processor.StartAsync(Cancel);
            rig.Connection = await rig.Broker.AcceptAsync();
            (FakeFrame subscribe, _) = await rig.Connection.SubscribeAsync();
            rig.Stream = subscribe.Header.Stream;
            await started;
            await rig.Connection.DeliverAsync(
                rig.Stream,
                new GroupDelivery(40, 1, 9, 1, 30_000),
                FakeConnection.Batch(40, "a"u8.ToArray())
            );
            return rig;
        }

        public async ValueTask DisposeAsync()
        {
            await _client.DisposeAsync();
            await Processor.DisposeAsync();
            Connection.Dispose();
            Broker.Dispose();
        }

        private async Task HandleAsync(ProcessMessageEventArgs args)
        {
            if (!_begun.TrySetResult(args.CancellationToken))
                return;
            try
            {
                await Task.Delay(Timeout.Infinite, args.CancellationToken);
            }
            finally
            {
                _cancelled.TrySetResult();
            }
        }
    }
}

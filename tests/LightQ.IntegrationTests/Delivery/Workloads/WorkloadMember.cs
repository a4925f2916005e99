using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Delivery.Workloads;

/// <summary>A member of the group, with a connection of its own, that works in one of the ways users do.</summary>
internal sealed class WorkloadMember : IAsyncDisposable
{
    private readonly SeverableRelay _relay;
    private readonly LightQClient _client;
    private readonly Workload _workload;
    private readonly HandlerCalls _calls;
    private readonly CancellationTokenSource _end = new();
    private readonly Task _working;
    private volatile bool _isDead;
    private TaskCompletionSource? _pause;
    private int _inHand;
    private int _handled;

    public WorkloadMember(TestServer server, string topic, Workload workload, SettleHabit habit, HandlerCalls calls)
    {
        (_workload, _calls) = (workload, calls);
        _relay = new SeverableRelay(server.DataPort);
        _client = new LightQClient(
            LightQClientOptions.Parse($"lightq://127.0.0.1:{_relay.Port}?control={server.ControlPort}")
        );
        _working = Task.Run(() => WorkAsync(topic, habit));
    }

    /// <summary>How many messages it has handled.</summary>
    public int Handled => Volatile.Read(ref _handled);

    /// <summary>Whether a handler runs.</summary>
    public bool HasInHand => Volatile.Read(ref _inHand) > 0;

    /// <summary>Its next handler takes longer than the lock, and renews nothing.</summary>
    public void Pause() => _pause = new TaskCompletionSource();

    /// <summary>Its process is gone: the broker hears nothing more of it.</summary>
    public async Task DieAsync()
    {
        _isDead = true;
        _relay.Sever();
        await DisposeAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await _working;
        await _client.DisposeAsync();
        await _relay.DisposeAsync();
    }

    private async Task WorkAsync(string topic, SettleHabit habit)
    {
        var options = new ConsumeOptions { Group = "workers", SettleMode = SettleMode.Explicit };
        try
        {
            await (
                habit switch
                {
                    SettleHabit.Typed => TypedAsync(topic, options),
                    SettleHabit.Batches => BatchesAsync(topic, options),
                    SettleHabit.Fetch => FetchAsync(topic, options),
                    SettleHabit.Processor => ProcessAsync(topic),
                    _ => LoopAsync(topic, options, habit == SettleHabit.Queue),
                }
            );
        }
        catch (Exception) when (_isDead || _end.IsCancellationRequested)
        {
            // It has left, or its process is gone.
        }
    }

    private async Task LoopAsync(string topic, ConsumeOptions options, bool queues)
    {
        await foreach (Message message in _client.ConsumeAsync(topic, options, _end.Token))
        {
            await HandleAsync(message, _end.Token);
            if (queues)
                message.QueueCompletion();
            else
                await CompletedAsync(message.CompleteAsync(_end.Token));
        }
    }

    private async Task TypedAsync(string topic, ConsumeOptions options)
    {
        await foreach (Message<string> message in _client.ConsumeAsync<string>(topic, options, _end.Token))
        {
            await HandleAsync(message.Raw, _end.Token);
            await CompletedAsync(message.Raw.CompleteAsync(_end.Token));
        }
    }

    private async Task BatchesAsync(string topic, ConsumeOptions options)
    {
        await foreach (MessageBatch batch in _client.ConsumeBatchesAsync(topic, options, _end.Token))
        {
            for (int i = 0; i < batch.Count; i++)
                _calls.Add(batch.Partition, batch.BaseOffset + i, batch.Lock);
            Interlocked.Increment(ref _inHand);
            for (int i = 0; i < batch.Count; i++)
            {
                await WorkOnAsync(batch.Partition, batch.BaseOffset + i, _end.Token);
                await batch.RenewLockAsync(_end.Token);
            }
            Interlocked.Decrement(ref _inHand);
            Interlocked.Add(ref _handled, batch.Count);
            await CompletedAsync(batch.CompleteAsync(_end.Token));
        }
    }

    private async Task FetchAsync(string topic, ConsumeOptions options)
    {
        await using MessageConsumer consumer = _client.CreateConsumer(topic, options);
        while (true)
        {
            int most = _workload.Usual > _workload.Lock / 10 ? 1 : 5;
            IReadOnlyList<Message> some = await consumer.FetchAsync(
                most,
                TimeSpan.FromSeconds(1),
                cancellationToken: _end.Token
            );
            foreach (Message message in some)
                _calls.Add(message);
            foreach (Message message in some)
            {
                await HandleAsync(message, _end.Token, isSeen: true);
                await CompletedAsync(message.CompleteAsync(_end.Token));
            }
        }
    }

    private async Task ProcessAsync(string topic)
    {
        await using LightQProcessor processor = _client.CreateProcessor(topic, "workers", new() { MaxConcurrency = 2 });
        processor.ProcessMessageAsync += args => HandleAsync(args.Message, args.CancellationToken, renews: false);
        await processor.StartAsync(_end.Token);
        await Task.Delay(Timeout.Infinite, _end.Token);
    }

    private async Task HandleAsync(
        Message message,
        CancellationToken cancellationToken,
        bool isSeen = false,
        bool renews = true
    )
    {
        if (!isSeen)
            _calls.Add(message);
        Interlocked.Increment(ref _inHand);
        try
        {
            Task renewals = renews ? RenewAsync(message, cancellationToken) : Task.CompletedTask;
            await WorkOnAsync(message.Partition, message.Offset, cancellationToken);
            await renewals;
            Interlocked.Increment(ref _handled);
        }
        finally
        {
            Interlocked.Decrement(ref _inHand);
        }
    }

    /// <summary>Renews the lock of a message that takes long, as its handler should.</summary>
    private async Task RenewAsync(Message message, CancellationToken cancellationToken)
    {
        TimeSpan left = _workload.TimeFor(message.Partition, message.Offset);
        for (TimeSpan step = _workload.Lock / 3; left > step; left -= step)
        {
            await Task.Delay(step, cancellationToken);
            await message.RenewLockAsync(cancellationToken);
        }
    }

    private async Task WorkOnAsync(int partition, long offset, CancellationToken cancellationToken)
    {
        TimeSpan time = _workload.TimeFor(partition, offset);
        if (time > TimeSpan.Zero)
            await Task.Delay(time, cancellationToken);
        if (Interlocked.Exchange(ref _pause, null) is not null)
            await Task.Delay(_workload.Lock * 1.5, cancellationToken);
    }

    private static async Task CompletedAsync(ValueTask<SettleOutcome> completing)
    {
        try
        {
            SettleOutcome outcome = await completing;
            Assert.True(outcome is SettleOutcome.Done or SettleOutcome.LockExpired, $"{outcome}");
        }
        catch (LightQException e) when (e.Code is ErrorCode.OutcomeUnknown or ErrorCode.Closed)
        {
            // Its connection ended: redelivered, or settled.
        }
    }
}

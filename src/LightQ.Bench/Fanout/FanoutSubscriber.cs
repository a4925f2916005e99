using LightQ.Client;

namespace LightQ.Bench.Fanout;

/// <summary>One subscriber: a connection of its own, a receipt for every message.</summary>
internal sealed class FanoutSubscriber : IAsyncDisposable
{
    private readonly LightQClient _client;
    private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _failed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public FanoutSubscriber(LightQClientOptions options, FanoutSpec spec)
    {
        Ledger = new FanoutLedger(spec.Publishers, spec.WarmUpEach, spec.MessagesEach);
        _client = new LightQClient(options);
        _client.ConnectionStateChanged += (_, change) =>
        {
            // A subscriber that reconnects would not fail the run, but what it measured meanwhile is no fan-out.
            if (change.State == ConnectionState.Reconnecting)
                _failed.TrySetException(change.Reason!);
        };
    }

    /// <summary>What it got.</summary>
    public FanoutLedger Ledger { get; }

    /// <summary>Completes never, or with the reason why it gets nothing more.</summary>
    public Task Failed => _failed.Task;

    /// <summary>Connects and subscribes; goes on receiving then.</summary>
    public async Task StartAsync(string topic, FanoutBody reader)
    {
        _ = ConsumeAsync(topic, reader);
        await await Task.WhenAny(_subscribed.Task, _failed.Task);
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    private async Task ConsumeAsync(string topic, FanoutBody reader)
    {
        // Inline: a thousand subscribers share two cores, and the hop to another thread costs more than what is done
        // with a message.
        var options = new ConsumeOptions
        {
            SettleMode = SettleMode.Explicit,
            Scheduling = ContinuationScheduling.Inline,
            GapAction = GapAction.Throw,
            OnSubscribed = _ => _subscribed.TrySetResult(),
        };
        try
        {
            await foreach (Message message in _client.ConsumeAsync(topic, options))
            {
                Ledger.Take(reader, message.BodySpan);
                message.QueueCompletion();
            }
        }
        catch (Exception e)
        {
            // Not hidden: the caller that waits for this subscriber gets it.
            _failed.TrySetException(e);
        }
    }
}

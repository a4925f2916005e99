using System.Diagnostics;
using LightQ.Bench.Checks;
using LightQ.Client;

namespace LightQ.Bench.Scale;

/// <summary>One subscription: counts, and keeps account of the offsets.</summary>
internal sealed class ScaleConsumer(LightQClient client, string topic)
{
    private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _received;
    private long _lastTicks;
    private long _first;

    /// <summary>Messages received so far.</summary>
    public long Received => Volatile.Read(ref _received);

    /// <summary>Monotonic clock when the last of them was received.</summary>
    public long LastTicks => Volatile.Read(ref _lastTicks);

    /// <summary>The account of the messages since it subscribed.</summary>
    public SequenceLedger Ledger { get; } = new();

    /// <summary>Fails when nothing more will come.</summary>
    public Task Running { get; private set; } = Task.CompletedTask;

    /// <summary>Returns when it is subscribed; goes on receiving then, until the token is cancelled.</summary>
    public async Task StartAsync(CancellationToken stop)
    {
        Running = ConsumeAsync(stop);
        await await Task.WhenAny(_subscribed.Task, Running);
    }

    private async Task ConsumeAsync(CancellationToken stop)
    {
        var options = new ConsumeOptions
        {
            Start = StartPosition.Latest,
            Scheduling = ContinuationScheduling.Inline,
            GapAction = GapAction.Throw,
            OnSubscribed = OnSubscribed,
        };
        await foreach (MessageBatch batch in client.ConsumeBatchesAsync(topic, options, stop))
        {
            for (int i = 0; i < batch.Count; i++)
                Ledger.Take(batch.BaseOffset - _first + i);
            Volatile.Write(ref _lastTicks, Stopwatch.GetTimestamp());
            Volatile.Write(ref _received, _received + batch.Count);
        }
    }

    private void OnSubscribed(SubscriptionStarted started)
    {
        if (!started.IsResumed)
            _first = started.NextOffset;
        _subscribed.TrySetResult();
    }
}

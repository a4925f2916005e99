using System.Diagnostics;
using LightQ.Client;

namespace LightQ.Cli.Bench.Scale;

/// <summary>One subscription: counts, and sees that offsets follow one another.</summary>
internal sealed class ScaleConsumer(LightQClient client, string topic)
{
    private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _received;
    private long _lastTicks;
    private long _next = -1;
    private long _strayed;

    /// <summary>Messages received so far.</summary>
    public long Received => Volatile.Read(ref _received);

    /// <summary>Monotonic clock when the last of them was received.</summary>
    public long LastTicks => Volatile.Read(ref _lastTicks);

    /// <summary>Messages that did not follow the one before.</summary>
    public long Strayed => Volatile.Read(ref _strayed);

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
            OnSubscribed = _ => _subscribed.TrySetResult(),
        };
        await foreach (MessageBatch batch in client.ConsumeBatchesAsync(topic, options).WithCancellation(stop))
        {
            if (_next >= 0 && batch.BaseOffset != _next)
                Volatile.Write(ref _strayed, _strayed + 1);
            _next = batch.BaseOffset + batch.Count;
            Volatile.Write(ref _lastTicks, Stopwatch.GetTimestamp());
            Volatile.Write(ref _received, _received + batch.Count);
        }
    }
}

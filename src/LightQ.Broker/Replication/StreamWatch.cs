using System.Collections.Concurrent;
using LightQ.Broker.Logs;

namespace LightQ.Broker.Replication;

/// <summary>
/// Looks at the streams that this node owns, again and again: whoever purges or deletes one tells no owner, whose
/// appends may go on to be stored.
/// </summary>
/// <remarks>
/// A stream is looked at every 0.4 s, or less often with so many that the engine would be asked more than 200 times a
/// second. What looks like a loss is looked at once more: an engine that has just elected a leader may be behind.
/// </remarks>
internal sealed class StreamWatch(TimeProvider time) : IAsyncDisposable
{
    private const int LooksPerSecond = 200,
        AtOnce = 16;

    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(400),
        Again = TimeSpan.FromMilliseconds(250);

    private readonly ConcurrentDictionary<WatchedStream, bool> _watched = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly Lock _lock = new();
    private Task? _running;

    /// <summary>Watches the stream of a partition until the result is disposed of.</summary>
    /// <param name="log">The partition's log, which is told.</param>
    /// <param name="reason">What clients get to read when it has lost something.</param>
    /// <param name="changed">Called when the log was told.</param>
    public IDisposable Begin(ReplicatedLog log, string reason, Action changed)
    {
        var stream = new WatchedStream(
            log.Stream,
            log.Ledger,
            loss =>
            {
                log.NoteLoss(loss, reason);
                changed();
            }
        );
        _watched[stream] = true;
        lock (_lock)
            _running ??= Task.Run(RunAsync);
        return new Watching(this, stream);
    }

    /// <summary>Ends it. Once or more.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        if (_running is { } running)
            await running.ConfigureAwait(false);
    }

    private async Task RunAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            var interval = TimeSpan.FromSeconds((double)_watched.Count / LooksPerSecond);
            await Task.Delay(interval > Interval ? interval : Interval, time, _stop.Token)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            foreach (WatchedStream[] some in _watched.Keys.ToArray().Chunk(AtOnce))
                await Task.WhenAll(some.Select(LookAsync)).ConfigureAwait(false);
        }
    }

    private async Task LookAsync(WatchedStream stream)
    {
        try
        {
            string? loss = await stream.LookAsync(_stop.Token).ConfigureAwait(false);
            if (loss is not null && stream.Loss is null)
            {
                await Task.Delay(Again, time, _stop.Token).ConfigureAwait(false);
                loss = await stream.LookAsync(_stop.Token).ConfigureAwait(false);
            }
            if (_watched.ContainsKey(stream))
                stream.Set(loss);
        }
        catch (Exception e) when (e is ReplicationException or OperationCanceledException)
        {
            // It does not answer: its owner's appends find out.
        }
    }

    private sealed class Watching(StreamWatch watch, WatchedStream stream) : IDisposable
    {
        public void Dispose() => watch._watched.TryRemove(stream, out _);
    }
}

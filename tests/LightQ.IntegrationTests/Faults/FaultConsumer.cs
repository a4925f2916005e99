using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.IntegrationTests.Faults;

/// <summary>A consumer that lives on while its broker does not, and holds against the oracle what it got before and behind each crash.</summary>
/// <remarks>A broadcast gets every message once and in order, or a gap; a member of a group gets every message at least once.</remarks>
internal sealed class FaultConsumer(string topic, PublishLedger ledger, string? group, bool mayLoseToRetention)
{
    private readonly HashSet<long> _seen = [];
    private readonly Lock _lock = new();
    private Task _running = Task.CompletedTask;
    private long _next = -1;
    private long _received;

    /// <summary>Messages received, repeated ones included.</summary>
    public long Received => Volatile.Read(ref _received);

    /// <summary>Consumes until it is told to stop; goes on where it was when it is called again.</summary>
    public void Start(LightQClient client, CancellationToken stop)
    {
        if (_running.IsCompleted)
            _running = Task.Run(() => RunAsync(client, stop), CancellationToken.None);
    }

    /// <summary>Waits until everything up to an offset has come, then compares it with what a verification found there.</summary>
    public async Task CatchUpAsync(long startOffset, long endOffset, TimeSpan patience)
    {
        if (group is null)
        {
            // Of a log that nothing survived in there is nothing to get.
            await Eventually.TrueAsync(() => startOffset == endOffset || Volatile.Read(ref _next) >= endOffset, patience, () => $"A consumer of {topic} is at {_next}, the log ends at {endOffset}.");
            return;
        }
        await Eventually.TrueAsync(
            () =>
            {
                lock (_lock)
                    return _seen.Count >= endOffset - startOffset;
            },
            patience,
            () => $"A member of {group} got {_seen.Count} messages of {topic}, which holds {endOffset - startOffset}.");
    }

    private async Task RunAsync(LightQClient client, CancellationToken stop)
    {
        StartPosition start = group is not null ? StartPosition.Committed : _next < 0 ? StartPosition.Earliest : StartPosition.Offset(_next);
        try
        {
            await foreach (Message message in client.ConsumeAsync(topic, new ConsumeOptions { Group = group, Start = start, OnGap = OnGap }).WithCancellation(stop))
                OnMessage(message);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The run is over.
        }
        catch (LightQException e) when (e.Code is ErrorCode.Unavailable or ErrorCode.ShuttingDown or ErrorCode.TopicFailed)
        {
            // Killed before the subscription stood, or with its log failed: the next round subscribes again.
        }
        catch (LightQException e)
        {
            ledger.Report($"a consumer of {topic} was ended: {e.Code} {e.Message}");
        }
    }

    private void OnMessage(Message message)
    {
        Interlocked.Increment(ref _received);
        SentMessage? sent = ledger.Find(message.Body.Span);
        if (sent is null)
            ledger.Report($"a consumer got bytes at {message.Offset} of {topic} that nobody sent");
        else if (!sent.TryPlace(message.Offset))
            ledger.Report($"a consumer got at {message.Offset}: {sent}");
        if (group is null && _next >= 0 && message.Offset != _next)
            ledger.Report($"a consumer of {topic} got {message.Offset}, not {_next}");
        Volatile.Write(ref _next, message.Offset + 1);
        if (group is null)
            return;
        lock (_lock)
            _seen.Add(message.Offset);
    }

    private void OnGap(MessageGap gap)
    {
        if (!mayLoseToRetention || gap.Reason != GapReason.Retention)
            ledger.Report($"a consumer of {topic} got a gap, {gap.FirstOffset} to {gap.LastOffset}: {gap.Reason}");
        Volatile.Write(ref _next, gap.LastOffset + 1);
    }
}

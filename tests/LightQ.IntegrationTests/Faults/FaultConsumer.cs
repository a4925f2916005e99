using LightQ.Client;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// A consumer of all partitions that lives on while its broker does not, and holds against the oracle what it got
/// before and behind each crash.
/// </summary>
/// <remarks>
/// A broadcast gets every message once and in its partition's order, or a gap; a member of a group gets every message
/// at least once.
/// </remarks>
internal sealed class FaultConsumer(
    string topic,
    PublishLedger ledger,
    string? group,
    bool mayLoseToRetention,
    int partitions = 1
)
{
    private readonly HashSet<long> _seen = [];
    private readonly Lock _lock = new();
    private readonly long[] _next = [.. Enumerable.Repeat(-1L, partitions)];
    private Task _running = Task.CompletedTask;
    private long _received;

    /// <summary>Messages received, repeated ones included.</summary>
    public long Received => Volatile.Read(ref _received);

    /// <summary>Consumes until it is told to stop; goes on where it was when it is called again.</summary>
    public void Start(LightQClient client, CancellationToken stop)
    {
        if (_running.IsCompleted)
            _running = Task.Run(() => RunAsync(client, stop), CancellationToken.None);
    }

    /// <summary>
    /// Waits until everything up to the ends has come, then compares it with what a verification found there.
    /// </summary>
    /// <param name="startOffsets">Where the partitions begin.</param>
    /// <param name="endOffsets">Where they end.</param>
    /// <param name="patience">For how long.</param>
    public async Task CatchUpAsync(long[] startOffsets, long[] endOffsets, TimeSpan patience)
    {
        if (group is null)
        {
            for (int i = 0; i < partitions; i++)
            {
                int partition = i;
                // Of a log that nothing survived in there is nothing to get.
                await Eventually.TrueAsync(
                    () =>
                        startOffsets[partition] == endOffsets[partition]
                        || Volatile.Read(ref _next[partition]) >= endOffsets[partition],
                    patience,
                    () =>
                        $"A consumer of {topic} is at {partition}/{_next[partition]}, the log ends at "
                        + $"{endOffsets[partition]}."
                );
            }
            return;
        }
        long held = endOffsets.Sum() - startOffsets.Sum();
        await Eventually.TrueAsync(
            () =>
            {
                lock (_lock)
                    return _seen.Count >= held;
            },
            patience,
            () => $"A member of {group} got {_seen.Count} messages of {topic}, which holds {held}."
        );
    }

    private async Task RunAsync(LightQClient client, CancellationToken stop)
    {
        // An offset is one partition's: of several a new subscription begins at the front, and what it had is passed
        // over.
        StartPosition start =
            group is not null ? StartPosition.Committed
            : partitions == 1 && _next[0] >= 0 ? StartPosition.Offset(_next[0])
            : StartPosition.Earliest;
        var had = (long[])_next.Clone();
        try
        {
            await foreach (
                Message message in client.ConsumeAsync(
                    topic,
                    new ConsumeOptions
                    {
                        Group = group,
                        Start = start,
                        OnGap = OnGap,
                    },
                    stop
                )
            )
            {
                if (group is not null || message.Offset >= had[message.Partition])
                    OnMessage(message);
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The run is over.
        }
        catch (LightQException e)
            when (e.Code is ErrorCode.Unavailable or ErrorCode.ShuttingDown or ErrorCode.TopicFailed)
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
        (int partition, long offset) = (message.Partition, message.Offset);
        Interlocked.Increment(ref _received);
        SentMessage? sent = ledger.Find(message.Body.Span);
        if (sent is null)
            ledger.Report($"a consumer got bytes at {partition}/{offset} of {topic} that nobody sent");
        else if (!sent.TryPlace(LogPlace.Of(partition, offset)))
            ledger.Report($"a consumer got at {partition}/{offset}: {sent}");
        if (group is null && _next[partition] >= 0 && offset != _next[partition])
            ledger.Report($"a consumer of {topic} got {partition}/{offset}, not {_next[partition]}");
        Volatile.Write(ref _next[partition], offset + 1);
        if (group is null)
            return;
        lock (_lock)
            _seen.Add(LogPlace.Of(partition, offset));
    }

    private void OnGap(MessageGap gap)
    {
        if (!mayLoseToRetention || gap.Reason != GapReason.Retention)
        {
            ledger.Report(
                $"a consumer of {topic} got a gap, {gap.Partition}/{gap.FirstOffset} to {gap.LastOffset}: {gap.Reason}"
            );
        }

        Volatile.Write(ref _next[gap.Partition], Math.Max(_next[gap.Partition], gap.LastOffset + 1));
    }
}

using LightQ.Broker.Streams;
using LightQ.Disruptor;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Storage.Spilling;

namespace LightQ.Broker.Logs;

/// <summary>
/// Keeps what has to leave the ring in temporary files, reads it back in order, and goes on in the ring where the files
/// end.
/// </summary>
internal sealed class SpillingReader : YieldingReader
{
    private readonly SpillStore _store;
    private readonly SpillQueue _queue;

    public SpillingReader(RingLog log, Action<StreamClose> end, Action ready, SpillStore store, uint user)
        : base(log, end)
    {
        _store = store;
        _queue = store.Open(ready, OnFailed, user);
    }

    public override long KeptBytes => _queue.Bytes;

    protected override void MakeRoom(long position) => Evacuate(position);

    protected override ReadResult TryReadKept(out LogRun run, out LogGap gap)
    {
        ReadResult result = _queue.TryTake(out run, out gap);
        // The subscription is about to end, with the reason.
        return result == ReadResult.Failed ? ReadResult.Pending : result;
    }

    protected override void ReleaseKept() => _queue.Release();

    protected override void DropKept() => _queue.Dispose();

    protected override bool TryKeep(in RingRun run, long nextOffset)
    {
        SpillResult result = _queue.TryAdd(run.Span, Held.Offset, nextOffset);
        if (result == SpillResult.Kept)
            return true;
        string reason = result switch
        {
            SpillResult.QueueFull =>
                $"a subscription may spill {_store.Options.MaxQueueBytes} bytes (Broker:SpillBytesPerSubscription)",
            SpillResult.StoreFull =>
                $"all subscriptions together may spill {_store.Options.MaxBytes} bytes (Broker:SpillBytes)",
            SpillResult.ShareFull =>
                $"its user has its share of what all subscriptions together may spill, {_store.Options.MaxBytes} bytes "
                    + $"(Broker:SpillBytes)",
            SpillResult.DiskBehind =>
                $"the disk does not take the backlog as fast as it grows, and {_store.Options.MaxMemoryBytes} bytes "
                    + $"(Broker:BacklogMemoryBytes) wait for it",
            _ => "its backlog was lost",
        };
        End(Lost(reason));
        return false;
    }

    private void OnFailed(Exception reason) =>
        EndFromOutside(Lost($"its backlog cannot be kept on the disk: {DiskError.Describe(reason)}"));

    private StreamClose Lost(string reason) =>
        new(ErrorCode.SlowConsumer, $"from message {Cursor.Offset} on nothing was sent: {reason}");
}

using LightQ.Protocol.Records;

namespace LightQ.Client.Consuming;

/// <summary>Enumerates batches as views of received memory: each ends when the next one is asked for.</summary>
internal sealed class BatchEnumerator(
    Func<ILoop, CancellationToken, Task<Consumer>> subscribe,
    CancellationToken all,
    CancellationToken cancellationToken
)
    : DeliveryReader(subscribe, new InFlightWindow(InFlightWindow.FirstBatches), all, cancellationToken),
        IAsyncEnumerator<MessageBatch>
{
    private readonly ViewClock _views = new();

    public override int Unit => Math.Max(1, BatchCount);

    public MessageBatch Current { get; private set; }

    protected override bool HandsOutBatches => true;

    protected override (long First, int Count) HandedOut => (Current.BaseOffset, Current.Count);

    public ValueTask<bool> MoveNextAsync()
    {
        _views.EndAll();
        return MoveToNextBatchAsync();
    }

    public override ValueTask DisposeAsync()
    {
        _views.EndAll();
        return base.DisposeAsync();
    }

    protected override bool OnBatch()
    {
        MessageBatch batch = View(_views.Begin());
        OnHandedOut(batch.BaseOffset + batch.Count);
        Current = batch;
        if (Filter is null)
            return true;
        try
        {
            if (Current.GetEnumerator().MoveNext())
                return true;
        }
        catch (LightQException e) when (e.Code == ErrorCode.CorruptData)
        {
            // The consumer's own enumeration ends there, too, and says so.
            return true;
        }
        PassOver(Current.BaseOffset, Current.Count);
        return false;
    }
}

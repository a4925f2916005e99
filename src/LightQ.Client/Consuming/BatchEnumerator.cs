namespace LightQ.Client.Consuming;

/// <summary>Enumerates batches.</summary>
internal sealed class BatchEnumerator(
    Func<CancellationToken, Task<Consumer>> subscribe,
    CancellationToken all,
    CancellationToken cancellationToken
) : DeliveryReader(subscribe, all, cancellationToken), IAsyncEnumerator<MessageBatch>
{
    public MessageBatch Current => Batch;

    public ValueTask<bool> MoveNextAsync() => MoveToNextBatchAsync();

    protected override bool OnBatch()
    {
        if (Filter is null)
            return true;
        MessageBatch batch = Batch;
        try
        {
            if (batch.GetEnumerator().MoveNext())
                return true;
        }
        catch (LightQException e) when (e.Code == ErrorCode.CorruptData)
        {
            // The consumer's own enumeration ends there, too, and says so.
            return true;
        }
        PassOver(batch.BaseOffset, batch.Count);
        return false;
    }
}

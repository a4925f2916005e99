namespace LightQ.Client.Consuming;

/// <summary>Enumerates batches.</summary>
internal sealed class BatchEnumerator(Func<CancellationToken, Task<Subscription>> subscribe, CancellationToken cancellationToken)
    : DeliveryReader(subscribe, cancellationToken), IAsyncEnumerator<MessageBatch>
{
    public MessageBatch Current => new(Memory, BatchStart, BatchLength, BatchSkip, Settlements);

    public ValueTask<bool> MoveNextAsync() => MoveToNextBatchAsync();

    protected override bool OnBatch() => true;
}

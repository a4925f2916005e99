namespace LightQ.Client.Consuming;

/// <summary>What ConsumeAsync returns: every enumeration is a subscription of its own.</summary>
internal sealed class ConsumeStream(Func<CancellationToken, Task<Consumer>> subscribe) : IAsyncEnumerable<Message>, IAsyncEnumerable<MessageBatch>
{
    IAsyncEnumerator<Message> IAsyncEnumerable<Message>.GetAsyncEnumerator(CancellationToken cancellationToken) =>
        new MessageEnumerator(subscribe, cancellationToken);

    IAsyncEnumerator<MessageBatch> IAsyncEnumerable<MessageBatch>.GetAsyncEnumerator(CancellationToken cancellationToken) =>
        new BatchEnumerator(subscribe, cancellationToken);
}

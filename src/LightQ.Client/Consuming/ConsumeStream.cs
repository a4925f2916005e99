namespace LightQ.Client.Consuming;

/// <summary>What ConsumeAsync returns: every enumeration is a subscription of its own.</summary>
/// <param name="subscribe">Opens a subscription.</param>
/// <param name="all">Ends every enumeration.</param>
internal sealed class ConsumeStream(Func<CancellationToken, Task<Consumer>> subscribe, CancellationToken all)
    : IAsyncEnumerable<Message>,
        IAsyncEnumerable<MessageBatch>
{
    IAsyncEnumerator<Message> IAsyncEnumerable<Message>.GetAsyncEnumerator(CancellationToken cancellationToken) =>
        new MessageEnumerator(subscribe, all, cancellationToken);

    IAsyncEnumerator<MessageBatch> IAsyncEnumerable<MessageBatch>.GetAsyncEnumerator(
        CancellationToken cancellationToken
    ) => new BatchEnumerator(subscribe, all, cancellationToken);
}

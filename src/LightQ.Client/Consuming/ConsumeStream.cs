namespace LightQ.Client.Consuming;

/// <summary>What ConsumeAsync returns: every enumeration is a subscription of its own.</summary>
/// <param name="subscribe">Opens a subscription.</param>
/// <param name="window">
/// How much is delivered ahead of one who works on several messages at a time; null where the loop finds out.
/// </param>
/// <param name="all">Ends every enumeration.</param>
internal sealed class ConsumeStream(
    Func<ILoop, CancellationToken, Task<Consumer>> subscribe,
    InFlightWindow? window,
    CancellationToken all
) : IAsyncEnumerable<Message>, IAsyncEnumerable<MessageBatch>
{
    IAsyncEnumerator<Message> IAsyncEnumerable<Message>.GetAsyncEnumerator(CancellationToken cancellationToken) =>
        new MessageEnumerator(
            subscribe,
            window ?? new InFlightWindow(InFlightWindow.FirstMessages),
            all,
            cancellationToken
        );

    IAsyncEnumerator<MessageBatch> IAsyncEnumerable<MessageBatch>.GetAsyncEnumerator(
        CancellationToken cancellationToken
    ) => new BatchEnumerator(subscribe, all, cancellationToken);
}

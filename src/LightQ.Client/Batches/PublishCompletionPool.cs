namespace LightQ.Client.Batches;

/// <summary>Completions for reuse: an intrusive stack. Anyone may return; renting needs the producer's gate.</summary>
/// <remarks>
/// With a single renter at a time a compare-and-swap stack has no ABA problem: no other thread can take its top and put
/// it back.
/// </remarks>
internal sealed class PublishCompletionPool
{
    private PublishCompletion? _top;

    public PublishCompletion Rent()
    {
        while (true)
        {
            PublishCompletion? top = Volatile.Read(ref _top);
            if (top is null)
                return new PublishCompletion(this);
            if (Interlocked.CompareExchange(ref _top, top.Next, top) != top)
                continue;
            top.Next = null;
            return top;
        }
    }

    public void Return(PublishCompletion completion)
    {
        PublishCompletion? top;
        do
        {
            top = Volatile.Read(ref _top);
            completion.Next = top;
        } while (Interlocked.CompareExchange(ref _top, completion, top) != top);
    }
}

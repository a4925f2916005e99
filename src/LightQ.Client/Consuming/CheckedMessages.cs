namespace LightQ.Client.Consuming;

/// <summary>
/// Enumerates messages as copies that end with the next one: reading one later throws, instead of reading another
/// message.
/// </summary>
internal sealed class CheckedMessages(IAsyncEnumerator<Message> messages) : IAsyncEnumerator<Message>
{
    public Message Current { get; private set; }

    public async ValueTask<bool> MoveNextAsync()
    {
        Current.End();
        Current = default;
        if (!await messages.MoveNextAsync().ConfigureAwait(false))
            return false;
        Current = messages.Current.ToOwned();
        return true;
    }

    public ValueTask DisposeAsync()
    {
        Current.End();
        return messages.DisposeAsync();
    }
}

namespace LightQ.Client.Consuming;

/// <summary>What ConsumeAsync returns for values: messages, decoded one by one as they are enumerated.</summary>
internal sealed class TypedStream<T>(IAsyncEnumerable<Message> messages, string topic, IMessageSerializer<T> serializer)
    : IAsyncEnumerable<Message<T>>
{
    public IAsyncEnumerator<Message<T>> GetAsyncEnumerator(CancellationToken cancellationToken = default) =>
        new Enumerator(messages.GetAsyncEnumerator(cancellationToken), topic, serializer);

    private sealed class Enumerator(IAsyncEnumerator<Message> messages, string topic, IMessageSerializer<T> serializer)
        : IAsyncEnumerator<Message<T>>
    {
        public Message<T> Current { get; private set; }

        public ValueTask<bool> MoveNextAsync()
        {
            ValueTask<bool> moved = messages.MoveNextAsync();
            if (!moved.IsCompletedSuccessfully)
                return AwaitAsync(moved);
            return new ValueTask<bool>(moved.Result && Decode());
        }

        public ValueTask DisposeAsync() => messages.DisposeAsync();

        private async ValueTask<bool> AwaitAsync(ValueTask<bool> moved) =>
            await moved.ConfigureAwait(false) && Decode();

        private bool Decode()
        {
            Current = messages.Current.As(serializer, topic);
            return true;
        }
    }
}

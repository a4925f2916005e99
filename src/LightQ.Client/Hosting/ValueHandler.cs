namespace LightQ.Client.Hosting;

/// <summary>Gives the values of messages to a handler of values.</summary>
/// <typeparam name="T">The type of the values.</typeparam>
internal sealed class ValueHandler<T>(IMessageHandler<T> handler, IMessageSerializer<T> serializer)
    : IMessageHandler,
        IValueHandler
{
    public Task HandleAsync(ProcessMessageEventArgs args) => handler.HandleAsync(args.GetValue(serializer), args);

    public void EnsureCanRead() => serializer.EnsureCanRead();
}

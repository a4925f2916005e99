namespace LightQ.Client.Hosting;

/// <summary>
/// Looks for what is configured and not registered: a changed name, or a forgotten key of a client. It would do
/// nothing, in silence.
/// </summary>
internal sealed class ChangeCheck(
    IEnumerable<ClientRegistration> clients,
    IEnumerable<ClientChange> clientChanges,
    IEnumerable<ProcessorRegistration> processors,
    IEnumerable<ProcessorChange> processorChanges
)
{
    /// <exception cref="ArgumentException">There is such a thing; the message says what is registered.</exception>
    public void Check()
    {
        if (clientChanges.FirstOrDefault(change => !clients.Any(c => Equals(c.Key, change.Key))) is { } client)
        {
            throw new ArgumentException(
                $"ConfigureLightQ is called for {Client(client.Key)}, which is not registered. Registered: "
                    + $"{List(clients.Select(static c => Client(c.Key)))}."
            );
        }
        if (processorChanges.FirstOrDefault(change => !processors.Any(change.IsOf)) is { } processor)
        {
            throw new ArgumentException(
                "ConfigureLightQProcessor is called for "
                    + Processor(processor.Topic, processor.Group, processor.ClientKey)
                    + ", which is not registered. Registered: "
                    + $"{List(processors.Select(static p => Processor(p.Topic, p.Group, p.ClientKey)))}."
            );
        }
    }

    private static string Client(object? key) => key is null ? "the client without a key" : $"the client '{key}'";

    private static string Processor(string topic, string group, object? clientKey) =>
        $"the processor of '{topic}' for group '{group}'" + (clientKey is null ? "" : $" with {Client(clientKey)}");

    private static string List(IEnumerable<string> registered) =>
        string.Join(", ", registered.Distinct()) is { Length: > 0 } list ? list : "none";
}

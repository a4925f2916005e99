using LightQ.Client.Consuming;
using Microsoft.Extensions.Logging;

namespace LightQ.Client.Processing;

/// <summary>What a processor needs of its client.</summary>
/// <param name="Options">The client's options.</param>
/// <param name="Logger">Where failures are logged.</param>
/// <param name="Consume">Consumes a topic.</param>
/// <param name="IsClosed">Whether the client is disposed.</param>
/// <param name="Probe">
/// Makes what handles messages, and throws if it cannot be made; null where the processor does not know how.
/// </param>
internal sealed record ProcessorClient(
    LightQClientOptions Options,
    ILogger Logger,
    Func<string, ConsumeOptions, InFlightWindow, IAsyncEnumerable<Message>> Consume,
    Func<bool> IsClosed,
    Func<Task>? Probe
);

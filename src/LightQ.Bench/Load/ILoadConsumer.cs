using LightQ.Bench.Checks;

namespace LightQ.Bench.Load;

/// <summary>Receives the messages of a run.</summary>
internal interface ILoadConsumer : IAsyncDisposable
{
    /// <summary>Completes when every message from now on will come.</summary>
    Task Subscribed { get; }

    /// <summary>Hands every message to a check until that is complete.</summary>
    Task ConsumeAsync(DeliveryCheck check, CancellationToken cancellationToken);
}

namespace LightQ.Bench.Load;

/// <summary>Sends the messages of a run, numbered from 0.</summary>
internal interface ILoadProducer : IAsyncDisposable
{
    /// <summary>Sends them as fast as possible and waits until they are as safe as they shall be.</summary>
    Task ProduceAsync(long messages, CancellationToken cancellationToken);
}

namespace LightQ.Bench;

/// <summary>Which of the SDK's ways a load takes.</summary>
internal enum LoadApi
{
    /// <summary>BatchBuilder, and ConsumeBatchesAsync.</summary>
    Batch,

    /// <summary>TryPublish, and ConsumeAsync.</summary>
    Message,

    /// <summary>PublishAsync, every ack awaited, and ConsumeAsync.</summary>
    Publish,
}

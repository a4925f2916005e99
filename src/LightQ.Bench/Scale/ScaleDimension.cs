namespace LightQ.Bench.Scale;

/// <summary>What grows.</summary>
internal enum ScaleDimension
{
    /// <summary>Durable topics, of which the same number is busy.</summary>
    Topics,

    /// <summary>Bytes that the busy durable topic holds already.</summary>
    Backlog,

    /// <summary>Subscriptions to one transient topic, each on a connection of its own.</summary>
    Subscriptions,

    /// <summary>Idle connections beside the busy transient topic.</summary>
    Connections,
}

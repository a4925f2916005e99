namespace LightQ.Client.Telemetry;

/// <summary>Where an operation happens.</summary>
/// <param name="Broker">The broker's address in the client's options.</param>
/// <param name="Topic">The topic's name.</param>
/// <param name="Partition">The partition.</param>
/// <param name="Group">The consumer's group; null for none, and for producers.</param>
internal readonly record struct OperationPlace(
    LightQClientOptions Broker,
    string Topic,
    int Partition,
    string? Group = null
);

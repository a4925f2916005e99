namespace LightQ.Bench.Idle;

/// <summary>Which connections one process holds, as the parent tells it.</summary>
internal sealed record IdleSpec
{
    /// <summary>The broker's connection string.</summary>
    public required string Endpoint { get; init; }

    /// <summary>How many.</summary>
    public int Connections { get; init; }

    /// <summary>Where they come from; null leaves it to the system.</summary>
    public string? SourceAddress { get; init; }
}

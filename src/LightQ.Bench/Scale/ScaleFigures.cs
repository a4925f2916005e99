namespace LightQ.Bench.Scale;

/// <summary>One dimension of a scale bench: two brokers that differ in nothing else.</summary>
internal sealed record ScaleFigures
{
    /// <summary>What grew: the <see cref="ScaleDimension"/> as people type it.</summary>
    public required string Dimension { get; init; }

    /// <summary>How many, or how many bytes, the first broker had.</summary>
    public long Few { get; init; }

    /// <summary>The same of the second.</summary>
    public long Many { get; init; }

    /// <summary>
    /// What <see cref="FewRate"/> and <see cref="ManyRate"/> count: messages a second, or deliveries in a second of the
    /// broker's CPU time.
    /// </summary>
    public required string Unit { get; init; }

    /// <summary>Medians of the runs.</summary>
    public double FewRate { get; init; }

    public double ManyRate { get; init; }

    /// <summary>Resident memory of the first broker before anything was done with it.</summary>
    public long RestBytes { get; init; }

    /// <summary>CPU time of the second broker while nothing was done with it, in percent of one core.</summary>
    public double IdleCpuPercent { get; init; }

    /// <summary>Resident memory that each idle topic or connection added.</summary>
    public double? BytesEach { get; init; }
}

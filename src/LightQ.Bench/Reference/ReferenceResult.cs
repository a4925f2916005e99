using LightQ.Bench.Figures;

namespace LightQ.Bench.Reference;

/// <summary>One cell of the reference documents' grid beside what one of them says of it.</summary>
internal sealed record ReferenceResult : RateResult
{
    /// <summary>
    /// What the document prints, where <see cref="RateResult.YardstickMessagesPerSecond"/> is what its timestamps
    /// give.
    /// </summary>
    public double PublishedMessagesPerSecond { get; init; }

    public required LatencyFigures LatencyUs { get; init; }
}

using System.Text.Json.Serialization;

namespace LightQ.Bench;

/// <summary>
/// One line of a bench's table: the product beside one yardstick. What a scenario measures besides is in a record
/// of its own.
/// </summary>
internal abstract record BenchResult
{
    public int Size { get; init; }

    public required string Kind { get; init; }

    public required string Ack { get; init; }

    public required string Api { get; init; }

    public long Messages { get; init; }

    public required string Yardstick { get; init; }

    /// <summary>The product's figure divided by the yardstick's.</summary>
    public double Ratio { get; init; }

    public int Pairs { get; init; }

    public long Lost { get; init; }

    public long Duplicated { get; init; }

    public long Reordered { get; init; }

    /// <summary>Messages whose content was not what was sent.</summary>
    public long Damaged { get; init; }

    /// <summary>What the yardstick lost, repeated, reordered or damaged.</summary>
    public long YardstickFaults { get; init; }

    /// <summary>Messages that did not arrive once, in order and undamaged.</summary>
    [JsonIgnore]
    public long Faults => Lost + Duplicated + Reordered + Damaged;

    /// <summary>Whether every message arrived once, in order and undamaged, and was settled if it was to be.</summary>
    [JsonIgnore]
    public virtual bool IsSound => Faults == 0;
}

using System.Text.Json.Serialization;

namespace LightQ.Bench.InProcess;

/// <summary>What both ends of a hand-over must know.</summary>
internal sealed record HandOverSpec
{
    public InProcessTarget Target { get; init; }

    /// <summary>Bytes of a message.</summary>
    public int Size { get; init; }

    /// <summary>Where its files are, if it has any.</summary>
    public required string Directory { get; init; }

    /// <summary>Whether the two ends are in two processes.</summary>
    public bool IsShared { get; init; }

    /// <summary>The consumer's CPU.</summary>
    public int ConsumerCpu { get; init; }

    /// <summary>The file that carries the yardstick's cache line; null for memory of one process.</summary>
    [JsonIgnore]
    public string? LineFile => IsShared ? Path.Combine(Directory, "line") : null;
}

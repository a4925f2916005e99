namespace LightQ.Storage.Inspection;

/// <summary>What an inspection found in one journal.</summary>
public sealed record JournalReport
{
    /// <summary>The journal's directory.</summary>
    public required string Directory { get; init; }

    /// <summary>The topic that the segments say they belong to.</summary>
    public required Guid TopicId { get; init; }

    /// <summary>The log's epoch.</summary>
    public required uint Epoch { get; init; }

    /// <summary>Segments that are there.</summary>
    public required int Segments { get; init; }

    /// <summary>Whole and valid batches.</summary>
    public required long Batches { get; init; }

    /// <summary>Messages in them.</summary>
    public required long Messages { get; init; }

    /// <summary>Bytes of them, headers included.</summary>
    public required long Bytes { get; init; }

    /// <summary>The first offset that is served.</summary>
    public required long StartOffset { get; init; }

    /// <summary>One behind the last offset.</summary>
    public required long EndOffset { get; init; }

    /// <summary>Everything that was found, in the order of the log.</summary>
    public required IReadOnlyList<JournalFinding> Findings { get; init; }

    /// <summary>Whether something that had been durable is damaged or missing.</summary>
    public bool IsDamaged => Findings.Any(f => f.Kind == FindingKind.Damage);
}

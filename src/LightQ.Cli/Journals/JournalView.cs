using LightQ.Storage.Inspection;

namespace LightQ.Cli.Journals;

/// <summary>A journal as <c>verify</c> shows it.</summary>
internal sealed record JournalView
{
    /// <summary>
    /// The topic's name, <c>catalog</c> or <c>groups</c>; absent for a topic that the catalog does not know.
    /// </summary>
    public string? Name { get; init; }

    /// <summary>The topic's id: 32 hexadecimal digits.</summary>
    public string? Id { get; init; }

    public int? Partition { get; init; }

    /// <summary>
    /// How many replicas the topic has: what is here is a copy of its log then. Absent for a topic without.
    /// </summary>
    public int? Replicas { get; init; }

    public required string Directory { get; init; }

    public int Segments { get; init; }

    public long Batches { get; init; }

    public long Messages { get; init; }

    public long Bytes { get; init; }

    public long StartOffset { get; init; }

    public long EndOffset { get; init; }

    /// <summary><c>clean</c> or <c>damaged</c>.</summary>
    public required string Verdict { get; init; }

    public required IReadOnlyList<FindingView> Findings { get; init; }

    public static JournalView Of(JournalPartition partition, JournalReport report) =>
        From(report) with
        {
            Name = partition.Name,
            Id = (partition.TopicId ?? report.TopicId).ToString("N"),
            Partition = partition.Partition,
            Replicas = partition.Replicas == 0 ? null : partition.Replicas,
        };

    public static JournalView OfRecords(string directory, JournalReport report) =>
        From(report) with
        {
            Name = Path.GetFileName(directory),
        };

    private static JournalView From(JournalReport report) =>
        new()
        {
            Directory = report.Directory,
            Segments = report.Segments,
            Batches = report.Batches,
            Messages = report.Messages,
            Bytes = report.Bytes,
            StartOffset = report.StartOffset,
            EndOffset = report.EndOffset,
            Verdict = report.IsDamaged ? "damaged" : "clean",
            Findings = [.. report.Findings.Select(FindingView.From)],
        };
}

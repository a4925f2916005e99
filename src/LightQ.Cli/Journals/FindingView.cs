using LightQ.Storage.Inspection;

namespace LightQ.Cli.Journals;

/// <summary>A finding as it is written.</summary>
internal sealed record FindingView(
    string Kind,
    string File,
    long Position,
    long? FirstOffset,
    long? LastOffset,
    string Detail
)
{
    public string Line =>
        FirstOffset is null
            ? $"{Kind}: {File} at byte {Position}: {Detail}"
            : $"{Kind}: {File} at byte {Position}, offsets {FirstOffset} to {LastOffset}: {Detail}";

    public static FindingView From(JournalFinding finding) =>
        new(
            finding.Kind == FindingKind.Damage ? "damage" : "note",
            finding.File,
            finding.Position,
            finding.FirstOffset < 0 ? null : finding.FirstOffset,
            finding.LastOffset < 0 ? null : finding.LastOffset,
            finding.Detail
        );
}

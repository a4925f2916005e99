namespace LightQ.Storage.Inspection;

/// <summary>Something an inspection found.</summary>
/// <param name="Kind">How much it matters.</param>
/// <param name="File">The file's name in the journal's directory.</param>
/// <param name="Position">The byte in the file where it begins.</param>
/// <param name="FirstOffset">The first offset concerned; -1 when no offset is.</param>
/// <param name="LastOffset">The last offset concerned; -1 when no offset is.</param>
/// <param name="Detail">What it is and what it means.</param>
public sealed record JournalFinding(
    FindingKind Kind,
    string File,
    long Position,
    long FirstOffset,
    long LastOffset,
    string Detail
);

namespace LightQ.Server.Audit;

/// <summary>The result of verifying an audit log.</summary>
/// <param name="Files">Files that were read.</param>
/// <param name="Lines">Lines that are as they were written, up to the first that was changed.</param>
/// <param name="First">The number of the first of these lines; 0 when there is none.</param>
/// <param name="Head">The last of these lines, to be noted elsewhere; null when there is none.</param>
/// <param name="TornBytes">
/// Bytes after the last line: part of a line that a crash has left, or that is being written.
/// </param>
/// <param name="Finding">The first thing that is wrong; null when nothing is wrong.</param>
public sealed record AuditReport(
    int Files,
    long Lines,
    long First,
    AuditHead? Head,
    long TornBytes,
    AuditFinding? Finding
);

namespace LightQ.Server.Audit;

/// <summary>What verifying an audit log has found.</summary>
/// <param name="Files">Files that were read.</param>
/// <param name="Lines">Lines that are as they were written, up to the first that is not.</param>
/// <param name="First">The number of the first of these; 0 when there is none.</param>
/// <param name="Head">The last of them, to be noted elsewhere; null when there is none.</param>
/// <param name="TornBytes">
/// Bytes behind the last line: a part of one that a crash has left, or that is being written.
/// </param>
/// <param name="Finding">The first thing that is wrong; null when nothing is.</param>
public sealed record AuditReport(
    int Files,
    long Lines,
    long First,
    AuditHead? Head,
    long TornBytes,
    AuditFinding? Finding
);

namespace LightQ.Server.Audit;

/// <summary>A page of the log.</summary>
/// <param name="Lines">The lines that were asked for.</param>
/// <param name="Damages">What is not as it was written, among all that was read.</param>
/// <param name="Next">Where the next page goes on; null when there is nothing more.</param>
internal sealed record AuditPage(
    IReadOnlyList<AuditLine> Lines,
    IReadOnlyList<AuditDamage> Damages,
    AuditPosition? Next
);

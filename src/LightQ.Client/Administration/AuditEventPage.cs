namespace LightQ.Client.Administration;

/// <summary>A page of a broker's audit log.</summary>
/// <param name="Node">The node that answered; <c>local</c> for a broker without a cluster.</param>
/// <param name="Events">The events; a page may have few or none and not be the last.</param>
/// <param name="Damages">
/// What is not as it was written, among all that was read for this page. It needs a look:
/// <c>lightq audit verify</c> checks the whole log.
/// </param>
/// <param name="NextPageToken">For the next page; null on the last.</param>
public sealed record AuditEventPage(
    string Node,
    IReadOnlyList<AuditEventInfo> Events,
    IReadOnlyList<AuditDamageInfo> Damages,
    string? NextPageToken
);

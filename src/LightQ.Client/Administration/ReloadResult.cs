namespace LightQ.Client.Administration;

/// <summary>The result of <see cref="OperationsClient.ReloadAsync"/>.</summary>
/// <param name="Settings">Settings whose value differs from the one that the broker ran with.</param>
/// <param name="Refusal">
/// Why the whole configuration was rejected, so that nothing has changed; null when it was accepted.
/// </param>
/// <param name="Certificate">
/// Whether the certificate that was read again is in force. False when it cannot be used, and the previous one stays in
/// force; null when there is no certificate.
/// </param>
/// <param name="CertificateProblem">Why the certificate cannot be used; null when it can, or there is none.</param>
public sealed record ReloadResult(
    IReadOnlyList<ReloadedSetting> Settings,
    string? Refusal,
    bool? Certificate,
    string? CertificateProblem
);

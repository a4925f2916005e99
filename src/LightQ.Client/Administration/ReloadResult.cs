namespace LightQ.Client.Administration;

/// <summary>What came of <see cref="OperationsClient.ReloadAsync"/>.</summary>
/// <param name="Settings">Settings whose value is another than the broker ran with.</param>
/// <param name="Refusal">
/// Why the configuration is refused as a whole, in which case nothing has changed; null when it is not.
/// </param>
/// <param name="Certificate">
/// Whether the certificate that was read again is in force; false when it cannot be used and the one before stays; null
/// when there is none.
/// </param>
/// <param name="CertificateProblem">Why it cannot be used; null when it can, or there is none.</param>
public sealed record ReloadResult(
    IReadOnlyList<ReloadedSetting> Settings,
    string? Refusal,
    bool? Certificate,
    string? CertificateProblem
);

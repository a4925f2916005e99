namespace LightQ.Server.Configuration;

/// <summary>The result of reading the configuration again.</summary>
/// <param name="Settings">Settings whose values have changed; empty when the configuration was rejected.</param>
/// <param name="Refusal">
/// Why the whole configuration was rejected, so that nothing has changed; null when it was accepted.
/// </param>
/// <param name="HasCertificate">Whether there is a certificate, which was then read again.</param>
/// <param name="CertificateProblem">
/// Why the certificate cannot be used, so that the previous one stays in force; null when it can be used.
/// </param>
public sealed record ReloadReport(
    IReadOnlyList<SettingReload> Settings,
    string? Refusal,
    bool HasCertificate,
    string? CertificateProblem
)
{
    /// <summary>Creates the report of a rejected configuration: nothing has changed.</summary>
    public static ReloadReport Refused(string why) => new([], why, HasCertificate: false, CertificateProblem: null);
}

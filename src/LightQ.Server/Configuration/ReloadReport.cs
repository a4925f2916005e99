namespace LightQ.Server.Configuration;

/// <summary>What came of reading the configuration again.</summary>
/// <param name="Settings">Settings that are another than before; empty when it was refused.</param>
/// <param name="Refusal">
/// Why the configuration is refused as a whole, in which case nothing has changed; null when it is not.
/// </param>
/// <param name="HasCertificate">Whether there is a certificate, which was then read again.</param>
/// <param name="CertificateProblem">
/// Why it cannot be used, in which case the one before stays in force; null when it can.
/// </param>
public sealed record ReloadReport(
    IReadOnlyList<SettingReload> Settings,
    string? Refusal,
    bool HasCertificate,
    string? CertificateProblem
)
{
    /// <summary>Nothing has changed.</summary>
    public static ReloadReport Refused(string why) => new([], why, HasCertificate: false, CertificateProblem: null);
}

using System.Globalization;
using System.Net;
using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace LightQ.Client.Encryption;

/// <summary>Says what is wrong with a broker's certificate, and what to do.</summary>
internal static class BrokerCertificate
{
    private const X509ChainStatusFlags Untrusted =
        X509ChainStatusFlags.UntrustedRoot | X509ChainStatusFlags.PartialChain;

    /// <summary>One line about the worst of the problems.</summary>
    public static string ProblemOf(
        X509Certificate? shown,
        X509Chain? chain,
        SslPolicyErrors errors,
        LightQClientOptions options
    )
    {
        if (shown is not X509Certificate2 certificate)
            return $"{options} shows no certificate.";
        string name = $"The certificate of {options.Host}, {certificate.Subject},";
        X509ChainStatusFlags faults =
            chain?.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, (all, s) => all | s.Status)
            ?? X509ChainStatusFlags.NoError;
        if ((faults & Untrusted) != 0)
        {
            return options.CertificateAuthorityFile is { } ca
                ? $"{name} does not come from an authority in '{ca}'; it was issued by {certificate.Issuer}."
                : $"{name} does not come from an authority that this machine trusts; it was issued by "
                    + $"{certificate.Issuer}. Name that authority's file: ca=FILE.";
        }
        if ((faults & X509ChainStatusFlags.NotTimeValid) != 0)
            return $"{name} {TimeProblem(certificate, options.TimeProvider.GetUtcNow())}.";
        if ((errors & SslPolicyErrors.RemoteCertificateNameMismatch) != 0)
            return $"{name} is for {Names(certificate)}, not for '{options.Host}'.";
        return (faults & X509ChainStatusFlags.NotValidForUsage) != 0
            ? $"{name} is not for servers."
            : $"{name} is not valid: {faults}.";
    }

    private static string TimeProblem(X509Certificate2 certificate, DateTimeOffset now)
    {
        if (now > certificate.NotAfter)
            return $"expired on {Day(certificate.NotAfter)}";
        return now < certificate.NotBefore
            ? $"is not valid before {Day(certificate.NotBefore)}"
            : "comes from an authority whose own certificate has expired or is not valid yet";
    }

    private static string Names(X509Certificate2 certificate)
    {
        X509SubjectAlternativeNameExtension[] extensions =
        [
            .. certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>(),
        ];
        string[] names =
        [
            .. extensions.SelectMany(e => e.EnumerateDnsNames()),
            .. extensions.SelectMany(e => e.EnumerateIPAddresses()).Select((IPAddress a) => a.ToString()),
        ];
        return names.Length == 0 ? "no name at all (it has no subject alternative names)" : string.Join(", ", names);
    }

    private static string Day(DateTime time) =>
        time.ToUniversalTime().ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture);
}

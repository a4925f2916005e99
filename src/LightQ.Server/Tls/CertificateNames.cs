using System.Security.Cryptography.X509Certificates;

namespace LightQ.Server.Tls;

/// <summary>The names in certificates of those they were issued to.</summary>
internal static class CertificateNames
{
    private const string CommonName = "2.5.4.3";

    /// <summary>The subject's common name, if it has one, and then its DNS names.</summary>
    public static IReadOnlyList<string> Of(X509Certificate2 certificate)
    {
        // Not GetNameInfo: where there is no such name it gives another.
        IEnumerable<string> common = certificate
            .SubjectName.EnumerateRelativeDistinguishedNames()
            .Where(n => !n.HasMultipleElements && n.GetSingleElementType().Value == CommonName)
            .Select(n => n.GetSingleElementValue())
            .OfType<string>()
            .Take(1);
        return [.. common, .. DnsOf(certificate)];
    }

    /// <summary>The DNS names among the subject's alternative names.</summary>
    public static IEnumerable<string> DnsOf(X509Certificate2 certificate) =>
        certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>().SelectMany(e => e.EnumerateDnsNames());
}

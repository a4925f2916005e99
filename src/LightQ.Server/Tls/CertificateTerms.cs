using System.Security.Cryptography.X509Certificates;

namespace LightQ.Server.Tls;

/// <summary>Finds out where a certificate is in its time.</summary>
internal static class CertificateTerms
{
    private const int NoticeShare = 4;
    private static readonly TimeSpan MostNotice = TimeSpan.FromDays(30);

    /// <summary>Where a certificate is in its time, and how long it stays there; once it has ended, for ever.</summary>
    public static (CertificateTerm Term, TimeSpan Left) Of(X509Certificate2 certificate, DateTimeOffset now)
    {
        DateTime begin = certificate.NotBefore.ToUniversalTime(),
            end = certificate.NotAfter.ToUniversalTime();
        TimeSpan share = (end - begin) / NoticeShare,
            notice = share < MostNotice ? share : MostNotice,
            left = end - now.UtcDateTime;
        return left <= TimeSpan.Zero ? (CertificateTerm.Ended, TimeSpan.MaxValue)
            : left <= notice ? (CertificateTerm.Ending, left)
            : (CertificateTerm.Good, left - notice);
    }
}

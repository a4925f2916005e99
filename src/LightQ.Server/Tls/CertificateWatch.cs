using System.Security.Cryptography.X509Certificates;
using LightQ.Scheduling;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Tls;

/// <summary>
/// Logs that the certificate in force is about to expire, or has expired: within a second after it is in force, when
/// that begins, and then once a day.
/// </summary>
/// <remarks>Once a day it also finds new files in a broker to which no client connects.</remarks>
internal sealed class CertificateWatch : IHousekept, IAsyncDisposable
{
    private static readonly TimeSpan Day = TimeSpan.FromDays(1),
        Grain = TimeSpan.FromSeconds(1);

    private readonly ServerTls _tls;
    private readonly ILogger _logger;
    private readonly HousekeepingSchedule _schedule;

    /// <summary>Begins to look.</summary>
    /// <param name="tls">The certificate in force.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">Where it is logged.</param>
    public CertificateWatch(ServerTls tls, TimeProvider time, ILogger logger)
    {
        _tls = tls;
        _logger = logger;
        _schedule = new HousekeepingSchedule(time, Grain);
        _tls.Changed += LookNow;
        LookNow();
    }

    /// <summary>What to do about a certificate that ends.</summary>
    public static string Remedy(X509Certificate2 certificate) =>
        SelfSignedCertificate.Is(certificate)
            ? "a restart makes another, which clients have to be given"
            : "put a new one into its files, which needs no restart";

    /// <inheritdoc/>
    public TimeSpan? Look(DateTimeOffset now)
    {
        _tls.LookForChanges();
        X509Certificate2 certificate = _tls.Certificate;
        (CertificateTerm term, TimeSpan left) = CertificateTerms.Of(certificate, now);
        if (term == CertificateTerm.Ending)
        {
            ServerLog.CertificateEnding(
                _logger,
                certificate.Subject,
                certificate.NotAfter.ToUniversalTime(),
                Remedy(certificate)
            );
        }
        else if (term == CertificateTerm.Ended)
        {
            ServerLog.CertificateEnded(
                _logger,
                certificate.Subject,
                certificate.NotAfter.ToUniversalTime(),
                Remedy(certificate)
            );
        }

        return left < Day ? left : Day;
    }

    /// <summary>Looks no more; completes when it is not looking.</summary>
    public ValueTask DisposeAsync()
    {
        _tls.Changed -= LookNow;
        return _schedule.DisposeAsync();
    }

    private void LookNow() => _schedule.Request(this, TimeSpan.Zero);
}

using System.Security.Cryptography.X509Certificates;
using LightQ.Storage;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Tls;

/// <summary>Says once a day that the certificate in force is about to end, or has ended. Until then it only wakes once a day.</summary>
internal sealed class CertificateWatch : IHousekept, IDisposable
{
    private static readonly TimeSpan Day = TimeSpan.FromDays(1), MostNotice = TimeSpan.FromDays(30), Grain = TimeSpan.FromSeconds(1);

    /// <summary>Whoever renews by himself does so earlier: usually with a third of the time left.</summary>
    private const int NoticeShare = 4;

    private readonly ServerTls _tls;
    private readonly string _remedy;
    private readonly ILogger _logger;
    private readonly HousekeepingSchedule _schedule;

    /// <summary>Looks for the first time at once, on the clock's thread.</summary>
    /// <param name="tls">The certificate in force.</param>
    /// <param name="isSelfSigned">Whether the broker has made it: then it makes another at its next start.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">Where it is told.</param>
    public CertificateWatch(ServerTls tls, bool isSelfSigned, TimeProvider time, ILogger logger)
    {
        _tls = tls;
        _remedy = isSelfSigned ? "a restart makes another, which clients have to be given" : "put a new one into its files, which needs no restart";
        _logger = logger;
        _schedule = new HousekeepingSchedule(time, Grain);
        _schedule.Request(this, TimeSpan.Zero);
    }

    /// <summary>How long before its end a certificate is about to end: thirty days, or a quarter of the time for which it is valid if that is less.</summary>
    public static TimeSpan NoticeOf(X509Certificate2 certificate)
    {
        TimeSpan share = (certificate.NotAfter - certificate.NotBefore) / NoticeShare;
        return share < MostNotice ? share : MostNotice;
    }

    /// <inheritdoc/>
    public TimeSpan? Tend(DateTimeOffset now)
    {
        _tls.LookForChanges(); // Without a handshake nobody else has.
        X509Certificate2 certificate = _tls.Certificate;
        DateTime end = certificate.NotAfter.ToUniversalTime();
        TimeSpan left = end - now.UtcDateTime, calm = left - NoticeOf(certificate);
        if (left <= TimeSpan.Zero)
            ServerLog.CertificateEnded(_logger, certificate.Subject, end, _remedy);
        else if (calm <= TimeSpan.Zero)
            ServerLog.CertificateEnding(_logger, certificate.Subject, end, _remedy);
        TimeSpan next = calm > TimeSpan.Zero ? calm : left > TimeSpan.Zero ? left : Day;
        return next < Day ? next : Day;
    }

    /// <summary>Looks no more.</summary>
    public void Dispose() => _schedule.Dispose();
}

using LightQ.Server.Tls;
using LightQ.Tests.Shared;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.Tests.Server.Tls;

public sealed class CertificateWatchTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-test-").FullName;
    private readonly TestAuthority _authority = new();
    private readonly ManualTime _time = new();
    private readonly TlsLog _log = new();

    public void Dispose()
    {
        _authority.Dispose();
        Directory.Delete(_directory, recursive: true);
    }

    [Fact]
    public void An_end_that_is_near_is_a_warning_a_day_and_an_end_an_error_a_day()
    {
        using TestCertificate certificate = Issue(days: 200);
        using CertificateWatch watch = Watch(certificate);
        _time.Advance(TimeSpan.FromDays(169));
        Assert.Empty(_log.Of(LogLevel.Warning));
        _time.Advance(TimeSpan.FromDays(4));
        string[] warnings = _log.Of(LogLevel.Warning);
        Assert.InRange(warnings.Length, 3, 4);
        Assert.All(warnings, w => Assert.Contains("put a new one into its files, which needs no restart", w, StringComparison.Ordinal));
        _time.Advance(TimeSpan.FromDays(26.9));
        Assert.Empty(_log.Of(LogLevel.Error));
        _time.Advance(TimeSpan.FromDays(0.2));
        Assert.Contains("has ended on", Assert.Single(_log.Of(LogLevel.Error)), StringComparison.Ordinal); // Not up to a day later.
        _time.Advance(TimeSpan.FromDays(2));
        Assert.Equal(3, _log.Of(LogLevel.Error).Length);
    }

    [Fact]
    public void A_certificate_for_a_few_days_is_near_its_end_in_the_last_quarter()
    {
        using TestCertificate certificate = Issue(days: 7); // Valid for eight: since yesterday.
        using CertificateWatch watch = Watch(certificate);
        _time.Advance(TimeSpan.FromDays(4.9));
        Assert.Empty(_log.Of(LogLevel.Warning));
        _time.Advance(TimeSpan.FromDays(0.2));
        Assert.Single(_log.Of(LogLevel.Warning));
    }

    [Fact]
    public void A_new_file_is_seen_though_nobody_connects_and_ends_the_warnings()
    {
        using TestCertificate old = Issue(days: 10), renewed = Issue(days: 1000);
        using CertificateWatch watch = Watch(old);
        _time.Advance(TimeSpan.FromDays(9));
        int told = _log.Of(LogLevel.Warning).Length;
        Assert.NotEqual(0, told);
        foreach (string file in new[] { renewed.Write(_directory, "broker").Certificate, Path.Combine(_directory, "broker.key") })
            File.SetLastWriteTimeUtc(file, DateTime.UtcNow.AddMinutes(1));
        _time.Advance(TimeSpan.FromDays(5));
        Assert.Equal(told, _log.Of(LogLevel.Warning).Length);
        Assert.Empty(_log.Of(LogLevel.Error));
    }

    [Fact]
    public void Who_made_its_own_certificate_makes_another_at_a_restart()
    {
        using TestCertificate certificate = Issue(days: 2);
        using CertificateWatch watch = Watch(certificate, isSelfSigned: true);
        _time.Advance(TimeSpan.FromDays(2.5));
        Assert.Contains("a restart makes another", Assert.Single(_log.Of(LogLevel.Error)), StringComparison.Ordinal);
    }

    /// <summary>The clock of these tests is not the machine's, which certificates are issued by.</summary>
    private TestCertificate Issue(int days) => _authority.IssueServer(lastDay: days, now: _time.GetUtcNow());

    private CertificateWatch Watch(TestCertificate certificate, bool isSelfSigned = false)
    {
        (string file, string key) = certificate.Write(_directory, "broker");
        return new CertificateWatch(new ServerTls(new TlsOptions { CertificateFile = file, KeyFile = key }, _time, _log), isSelfSigned, _time, _log);
    }
}

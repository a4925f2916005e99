using System.Net;
using LightQ.Server;
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
    public async Task An_end_that_is_near_is_a_warning_a_day_and_an_end_an_error_a_day()
    {
        using TestCertificate certificate = Issue(days: 200);
        await using CertificateWatch watch = Watch(Open(certificate));
        _time.Advance(TimeSpan.FromDays(169));
        Assert.Empty(_log.Of(LogLevel.Warning));
        _time.Advance(TimeSpan.FromDays(4));
        string[] warnings = _log.Of(LogLevel.Warning);
        Assert.InRange(warnings.Length, 3, 4);
        Assert.All(
            warnings,
            w => Assert.Contains("put a new one into its files, which needs no restart", w, StringComparison.Ordinal)
        );
        _time.Advance(TimeSpan.FromDays(26.9));
        Assert.Empty(_log.Of(LogLevel.Error));
        _time.Advance(TimeSpan.FromDays(0.2));
        // Not up to a day later.
        Assert.Contains("has ended on", Assert.Single(_log.Of(LogLevel.Error)), StringComparison.Ordinal);
        _time.Advance(TimeSpan.FromDays(2));
        Assert.Equal(3, _log.Of(LogLevel.Error).Length);
    }

    [Fact]
    public async Task A_certificate_for_a_few_days_is_near_its_end_in_the_last_quarter()
    {
        using TestCertificate certificate = Issue(days: 7); // Valid for eight: since yesterday.
        await using CertificateWatch watch = Watch(Open(certificate));
        _time.Advance(TimeSpan.FromDays(4.9));
        Assert.Empty(_log.Of(LogLevel.Warning));
        _time.Advance(TimeSpan.FromDays(0.2));
        Assert.Single(_log.Of(LogLevel.Warning));
    }

    [Fact]
    public async Task A_new_file_is_seen_though_nobody_connects_and_ends_the_warnings()
    {
        using TestCertificate old = Issue(days: 10),
            renewed = Issue(days: 1000);
        await using CertificateWatch watch = Watch(Open(old));
        _time.Advance(TimeSpan.FromDays(9));
        int told = _log.Of(LogLevel.Warning).Length;
        Assert.NotEqual(0, told);
        Replace(renewed);
        _time.Advance(TimeSpan.FromDays(5));
        Assert.Equal(told, _log.Of(LogLevel.Warning).Length);
        Assert.Empty(_log.Of(LogLevel.Error));
    }

    [Fact]
    public async Task A_new_certificate_that_ends_soon_is_told_as_soon_as_it_is_in_force()
    {
        using TestCertificate old = Issue(days: 1000),
            worse = _authority.IssueServer(firstDay: -80, lastDay: 1, now: _time.GetUtcNow());
        ServerTls tls = Open(old);
        await using CertificateWatch watch = Watch(tls);
        _time.Advance(TimeSpan.FromSeconds(5));
        Replace(worse);
        Assert.Null(tls.Reload());
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Single(_log.Of(LogLevel.Warning));
        _time.Advance(TimeSpan.FromDays(1.1)); // One more when it ends.
        Assert.Single(_log.Of(LogLevel.Error));
    }

    [Fact]
    public async Task A_file_that_cannot_be_used_when_it_is_looked_at_is_told_and_the_certificate_before_it_stays()
    {
        using TestCertificate certificate = Issue(days: 1000);
        ServerTls tls = Open(certificate);
        await using CertificateWatch watch = Watch(tls);
        _time.Advance(TimeSpan.FromSeconds(5));
        File.WriteAllText(Path.Combine(_directory, "broker.crt"), "");
        _time.Advance(TimeSpan.FromDays(3));
        Assert.Contains(
            "'" + Path.Combine(_directory, "broker.crt") + "' is empty.",
            Assert.Single(_log.Of(LogLevel.Error)),
            StringComparison.Ordinal
        );
        Assert.Equal(certificate.Certificate.Thumbprint, tls.Certificate.Thumbprint);
    }

    [Fact]
    public async Task Who_made_its_own_certificate_makes_another_at_a_restart()
    {
        TlsOptions made = SelfSignedCertificate.EnsureIn(
            _directory,
            new TlsOptions { SelfSigned = true },
            IPAddress.Loopback,
            _time.GetUtcNow(),
            _log
        );
        int told = _log.Of(LogLevel.Warning).Length;
        await using CertificateWatch watch = Watch(new ServerTls(made, _time, _log));
        _time.Advance(TimeSpan.FromDays(397 - 29.5));
        Assert.Contains(
            "a restart makes another",
            Assert.Single(_log.Of(LogLevel.Warning)[told..]),
            StringComparison.Ordinal
        );
    }

    /// <summary>By the clock of these tests, which is not the machine's.</summary>
    private TestCertificate Issue(int days) => _authority.IssueServer(lastDay: days, now: _time.GetUtcNow());

    private ServerTls Open(TestCertificate certificate)
    {
        (string file, string key) = certificate.Write(_directory, "broker");
        return new ServerTls(new TlsOptions { CertificateFile = file, KeyFile = key }, _time, _log);
    }

    private void Replace(TestCertificate certificate)
    {
        (string file, string key) = certificate.Write(_directory, "broker");
        foreach (string written in new[] { file, key })
            // Some file systems know no time as short as a test.
            File.SetLastWriteTimeUtc(written, DateTime.UtcNow.AddMinutes(1));
    }

    private CertificateWatch Watch(ServerTls tls) => new(tls, _time, _log);
}

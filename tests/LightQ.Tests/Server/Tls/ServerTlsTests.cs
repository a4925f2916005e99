using System.Net;
using System.Net.NetworkInformation;
using System.Security.Cryptography.X509Certificates;
using LightQ.Server;
using LightQ.Server.Tls;
using LightQ.Tests.Shared;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.Tests.Server.Tls;

public sealed class ServerTlsTests : IDisposable
{
    private const int FarAway = 10_000; // The clock of these tests stands at 2030.
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
    public void A_changed_file_is_in_force_at_the_next_handshake_once_a_second_has_passed()
    {
        using TestCertificate first = Issue(),
            second = Issue();
        ServerTls tls = Open(first);
        Assert.Equal(first.Certificate.Thumbprint, Shown(tls));
        Replace(second, 1);
        Assert.Equal(first.Certificate.Thumbprint, Shown(tls));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(second.Certificate.Thumbprint, Shown(tls));
        Assert.All(_log.Lines, l => Assert.Equal(LogLevel.Information, l.Level));
    }

    [Fact]
    public void A_new_file_that_cannot_be_used_is_told_once_and_the_old_certificate_stays()
    {
        using TestCertificate first = Issue(),
            second = Issue();
        ServerTls tls = Open(first);
        File.WriteAllText(PathOf("broker.crt"), second.Pem); // Its key is not there yet.
        File.SetLastWriteTimeUtc(PathOf("broker.crt"), DateTime.UtcNow.AddMinutes(1));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(first.Certificate.Thumbprint, Shown(tls));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(first.Certificate.Thumbprint, Shown(tls));
        string error = Assert.Single(_log.Lines, l => l.Level == LogLevel.Error).Message;
        Assert.Contains("holds a key that does not go with the certificate", error, StringComparison.Ordinal);
        Assert.Contains("stays in force", error, StringComparison.Ordinal);
        Assert.DoesNotContain(_log.Lines, l => l.Level == LogLevel.Warning);
        Replace(second, 2);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(second.Certificate.Thumbprint, Shown(tls));
        Assert.StartsWith(
            "The certificate files can be used again: ",
            Assert.Single(_log.Lines, l => l.Level == LogLevel.Warning).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_reload_that_is_asked_for_reads_the_files_at_once_and_says_whether_they_can_be_used()
    {
        using TestCertificate first = Issue(),
            second = Issue();
        ServerTls tls = Open(first);
        second.Write(_directory, "broker");
        Assert.Null(tls.Reload());
        Assert.Equal(second.Certificate.Thumbprint, Shown(tls));
        File.Delete(PathOf("broker.key"));
        Assert.Equal("Tls:KeyFile: 'broker.key' does not exist.", tls.Reload());
        Assert.Equal(second.Certificate.Thumbprint, Shown(tls));
    }

    [Fact]
    public void A_self_signed_certificate_is_made_again_when_it_is_about_to_end_or_not_whole()
    {
        var options = new TlsOptions { SelfSigned = true };
        string file = PathOf("tls-self-signed.crt");
        string first = Make();
        Assert.Equal(first, Make());
        _time.Advance(TimeSpan.FromDays(366));
        Assert.Equal(first, Make());
        _time.Advance(TimeSpan.FromDays(2));
        string second = Make();
        Assert.NotEqual(first, second);
        File.Delete(PathOf("tls-self-signed.key"));
        Assert.NotEqual(second, Make());
        File.WriteAllText(file, first); // As a crash between the two files would leave them.
        Assert.NotEqual(first, Make());

        string Make()
        {
            TlsOptions made = SelfSignedCertificate.EnsureIn(
                _directory,
                options,
                IPAddress.Any,
                _time.GetUtcNow(),
                _log
            );
            CertificateFiles.Load(made, _time.GetUtcNow());
            return File.ReadAllText(file);
        }
    }

    [Fact]
    public void A_certificate_of_its_own_stays_when_the_broker_listens_elsewhere_and_the_log_names_what_it_lacks()
    {
        var options = new TlsOptions { SelfSigned = true };
        string made = File.ReadAllText(
            SelfSignedCertificate
                .EnsureIn(_directory, options, IPAddress.Loopback, _time.GetUtcNow(), _log)
                .CertificateFile!
        );
        SelfSignedCertificate.EnsureIn(_directory, options, IPAddress.Loopback, _time.GetUtcNow(), _log);
        Assert.Single(_log.Lines);
        string kept = File.ReadAllText(
            SelfSignedCertificate
                .EnsureIn(_directory, options, IPAddress.Parse("192.0.2.7"), _time.GetUtcNow(), _log)
                .CertificateFile!
        );
        Assert.Equal(made, kept);
        Assert.Contains(
            "tls-self-signed.crt is not for 192.0.2.7:",
            _log.Lines.Last().Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_certificate_of_its_own_names_where_the_broker_listens()
    {
        Assert.Equal((true, false), NamesOf(IPAddress.Loopback, "loopback"));
        Assert.Equal((true, true), NamesOf(IPAddress.Parse("192.0.2.7"), "one"));
        string[] addresses =
        [
            .. NetworkInterface
                .GetAllNetworkInterfaces()
                .SelectMany(i => i.GetIPProperties().UnicastAddresses)
                .Select(a => a.Address)
                .Where(a => !a.IsIPv6LinkLocal)
                .Select(a => $"{a}"),
        ];
        using X509Certificate2 any = Make(IPAddress.Any, "any");
        Assert.All(addresses, address => Assert.True(any.MatchesHostname(address), address));

        (bool Localhost, bool Address) NamesOf(IPAddress bind, string folder)
        {
            using X509Certificate2 made = Make(bind, folder);
            return (
                made.MatchesHostname("localhost") && made.MatchesHostname("127.0.0.1"),
                made.MatchesHostname("192.0.2.7")
            );
        }

        X509Certificate2 Make(IPAddress bind, string folder)
        {
            string directory = Directory.CreateDirectory(Path.Combine(_directory, folder)).FullName;
            return X509CertificateLoader.LoadCertificateFromFile(
                SelfSignedCertificate
                    .EnsureIn(directory, new TlsOptions { SelfSigned = true }, bind, _time.GetUtcNow(), _log)
                    .CertificateFile!
            );
        }
    }

    private static string Shown(ServerTls tls) =>
        tls.Begin((_, _, _, _) => false).ServerCertificateContext!.TargetCertificate.Thumbprint;

    private TestCertificate Issue() => _authority.IssueServer(lastDay: FarAway);

    private ServerTls Open(TestCertificate certificate)
    {
        (string file, string key) = certificate.Write(_directory, "broker");
        return new ServerTls(new TlsOptions { CertificateFile = file, KeyFile = key }, _time, _log);
    }

    /// <summary>Another time on the files: some file systems know none as short as a test.</summary>
    private void Replace(TestCertificate certificate, int minutes)
    {
        (string file, string key) = certificate.Write(_directory, "broker");
        foreach (string written in (string[])[file, key])
            File.SetLastWriteTimeUtc(written, DateTime.UtcNow.AddMinutes(minutes + 1));
    }

    private string PathOf(string name) => Path.Combine(_directory, name);
}

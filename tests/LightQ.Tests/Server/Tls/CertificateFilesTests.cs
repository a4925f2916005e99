using LightQ.Server;
using LightQ.Server.Tls;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Server.Tls;

public sealed class CertificateFilesTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-test-").FullName;
    private readonly TestAuthority _authority = new();

    public void Dispose()
    {
        _authority.Dispose();
        Directory.Delete(_directory, recursive: true);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_certificate_and_its_key_may_be_in_two_files_in_one_or_in_a_PFX(bool rsa)
    {
        using TestCertificate certificate = _authority.IssueServer(rsa: rsa);
        string file = Write("a.crt", certificate.Pem),
            key = Write("a.key", certificate.KeyPem),
            password = Write("password", "a b\n");
        TlsOptions[] ways =
        [
            new() { CertificateFile = file, KeyFile = key },
            new() { CertificateFile = Write("one.pem", certificate.Pem + "\n" + certificate.KeyPem) },
            new() { CertificateFile = Write("chain.crt", certificate.Pem + "\n" + _authority.Pem), KeyFile = key },
            new()
            {
                CertificateFile = file,
                KeyFile = Write("secret.key", certificate.EncryptedKeyPem("a b")),
                PasswordFile = password,
            },
            new() { CertificateFile = Write("a.pfx", certificate.Pfx("a b")), PasswordFile = password },
            new() { CertificateFile = Write("open.pfx", certificate.Pfx(null)) },
            new() { CertificateFile = Write("a.der", certificate.Certificate.RawData), KeyFile = key },
        ];
        Assert.All(
            ways,
            options =>
            {
                ServerCertificate loaded = CertificateFiles.Load(options, DateTimeOffset.UtcNow);
                Assert.True(loaded.Certificate.HasPrivateKey);
                Assert.Equal(certificate.Certificate.Thumbprint, loaded.Context.TargetCertificate.Thumbprint);
            }
        );
    }

    [Fact]
    public void What_cannot_be_used_is_named_with_its_setting_its_file_and_its_fault()
    {
        using TestCertificate certificate = _authority.IssueServer(),
            other = _authority.IssueServer(),
            rsa = _authority.IssueServer(rsa: true),
            client = _authority.IssueClient("c");
        string file = Write("a.crt", certificate.Pem),
            key = Write("a.key", certificate.KeyPem),
            text = Write("text", "hello"),
            missing = Path.Combine(_directory, "missing");
        string secret = Write("secret.key", certificate.EncryptedKeyPem("right")),
            password = Write("password", "wrong"),
            pfx = Write("a.pfx", certificate.Pfx("right"));
        (TlsOptions Options, string Message)[] cases =
        [
            (new() { CertificateFile = missing, KeyFile = key }, $"Tls:CertificateFile: '{missing}' does not exist."),
            (
                new() { CertificateFile = _directory, KeyFile = key },
                $"Tls:CertificateFile: '{_directory}' is a directory."
            ),
            (
                new() { CertificateFile = text, KeyFile = key },
                $"Tls:CertificateFile: '{text}' is no certificate; allowed: PEM or PFX."
            ),
            (new() { CertificateFile = Write("empty", ""), KeyFile = key }, "empty' is empty."),
            (new() { CertificateFile = key, KeyFile = key }, $"Tls:CertificateFile: '{key}' holds no certificate."),
            (
                new()
                {
                    CertificateFile = Write(
                        "bad.crt",
                        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
                    ),
                    KeyFile = key,
                },
                "bad.crt' holds a certificate that is damaged."
            ),
            (
                new() { CertificateFile = file },
                $"Tls:CertificateFile: '{file}' holds no private key: name its file by Tls:KeyFile (--tls-key)."
            ),
            (new() { CertificateFile = file, KeyFile = missing }, $"Tls:KeyFile: '{missing}' does not exist."),
            (new() { CertificateFile = file, KeyFile = text }, $"Tls:KeyFile: '{text}' holds no private key in PEM."),
            (
                new() { CertificateFile = file, KeyFile = Write("other.key", other.KeyPem) },
                $"other.key' holds a key that does not go with the certificate in '{file}'."
            ),
            (
                new() { CertificateFile = file, KeyFile = Write("rsa.key", rsa.KeyPem) },
                $"rsa.key' holds a key that does not go with the certificate in '{file}'."
            ),
            (
                new()
                {
                    CertificateFile = file,
                    KeyFile = Write("bad.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
                },
                "bad.key' holds a key that is damaged, is neither RSA nor ECDSA, or is on a curve that this machine "
                    + "does not know."
            ),
            (
                new() { CertificateFile = file, KeyFile = secret },
                $"Tls:KeyFile: '{secret}' holds a key that needs a password: name a file with it by Tls:PasswordFile."
            ),
            (
                new()
                {
                    CertificateFile = file,
                    KeyFile = secret,
                    PasswordFile = password,
                },
                $"Tls:KeyFile: '{secret}' holds a key that the password in Tls:PasswordFile does not open, or a "
                    + $"damaged one."
            ),
            (
                new()
                {
                    CertificateFile = file,
                    KeyFile = secret,
                    PasswordFile = missing,
                },
                $"Tls:PasswordFile: '{missing}' does not exist."
            ),
            (
                new() { CertificateFile = pfx },
                $"Tls:CertificateFile: '{pfx}' is a PFX that needs a password: name a file with it by Tls:PasswordFile."
            ),
            (
                new() { CertificateFile = pfx, PasswordFile = password },
                $"Tls:CertificateFile: '{pfx}' is a PFX that the password in Tls:PasswordFile does not open, or a "
                    + $"damaged one."
            ),
            (
                new()
                {
                    CertificateFile = Write("client.crt", client.Pem),
                    KeyFile = Write("client.key", client.KeyPem),
                },
                "is not for servers"
            ),
            (
                new()
                {
                    CertificateFile = file,
                    KeyFile = key,
                    ClientCaFile = missing,
                },
                $"Tls:ClientCaFile: '{missing}' does not exist."
            ),
            (
                new()
                {
                    CertificateFile = file,
                    KeyFile = key,
                    ClientCaFile = text,
                },
                $"Tls:ClientCaFile: '{text}' holds no certificate in PEM."
            ),
        ];
        Assert.All(cases, c => Assert.Contains(c.Message, Refused(c.Options).Message, StringComparison.Ordinal));
    }

    [Fact]
    public void A_certificate_out_of_its_time_is_refused_with_the_day()
    {
        using TestCertificate old = _authority.IssueServer(firstDay: -3, lastDay: -1),
            early = _authority.IssueServer(firstDay: 1, lastDay: 3);
        (string file, string key) = old.Write(_directory, "old");
        Assert.Contains(
            $"expired on {old.Certificate.NotAfter.ToUniversalTime():yyyy-MM-dd}",
            Refused(new() { CertificateFile = file, KeyFile = key }).Message,
            StringComparison.Ordinal
        );
        (file, key) = early.Write(_directory, "early");
        Assert.Contains(
            $"not valid before {early.Certificate.NotBefore.ToUniversalTime():yyyy-MM-dd}",
            Refused(new() { CertificateFile = file, KeyFile = key }).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_certificate_names_its_owner_by_common_name_and_DNS_names()
    {
        using TestCertificate both = _authority.IssueClient("orders", ["orders.example", "10.0.0.1"]),
            broker = _authority.IssueServer(["a.example"]);
        Assert.Equal(["orders", "orders.example"], CertificateNames.Of(both.Certificate));
        Assert.Equal(["broker", "a.example"], CertificateNames.Of(broker.Certificate));
    }

    private static ServerStartException Refused(TlsOptions options)
    {
        ServerStartException error = Assert.Throws<ServerStartException>(() =>
            CertificateFiles.Load(options, DateTimeOffset.UtcNow)
        );
        Assert.Equal(78, error.ExitCode);
        Assert.DoesNotContain('\n', error.Message);
        return error;
    }

    private string Write(string name, string text) => Write(name, System.Text.Encoding.UTF8.GetBytes(text));

    private string Write(string name, byte[] bytes)
    {
        string path = Path.Combine(_directory, name);
        File.WriteAllBytes(path, bytes);
        return path;
    }
}

using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Replication.Nats;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>A server that wants a user, a password, TLS and a certificate of the client.</summary>
public sealed class LoginTests : IAsyncLifetime
{
    private const string User = "lightq",
        Password = "wrong horse";

    private readonly TemporaryDirectory _directory = new();
    private readonly int _port = FreePorts.Find(1);
    private Process? _server;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    private string Address => $"tls://127.0.0.1:{_port.ToString(CultureInfo.InvariantCulture)}";

    private NatsLogin Login =>
        new()
        {
            User = User,
            PasswordFile = _directory.File("password"),
            CaFile = _directory.File("ca.pem"),
            CertificateFile = _directory.File("client.pem"),
            KeyFile = _directory.File("client.key"),
        };

    public async ValueTask InitializeAsync()
    {
        Assert.SkipWhen(
            NatsCluster.FindProgram() is null,
            "nats-server is not installed: apt-get install nats-server."
        );
        using X509Certificate2 ca = MakeAuthority("ca");
        using X509Certificate2 other = MakeAuthority("other");
        Issue(ca, "server");
        Issue(ca, "client");
        await File.WriteAllTextAsync(_directory.File("password"), $"{Password}\n", Cancelled);
        await File.WriteAllTextAsync(
            _directory.File("nats.conf"),
            $$"""
            listen: 127.0.0.1:{{_port.ToString(CultureInfo.InvariantCulture)}}
            log_file: "{{_directory.File("nats.log")}}"
            jetstream { store_dir: "{{_directory.File("data")}}" }
            authorization { user: {{User}}, password: "{{Password}}" }
            tls {
              cert_file: "{{_directory.File("server.pem")}}", key_file: "{{_directory.File("server.key")}}"
              ca_file: "{{_directory.File("ca.pem")}}", verify: true
            }
            """,
            Cancelled
        );
        _server = Process.Start(new ProcessStartInfo(NatsCluster.FindProgram()!, ["-c", _directory.File("nats.conf")]));
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
        {
            _server.Kill();
            await _server.WaitForExitAsync(CancellationToken.None);
            _server.Dispose();
        }
        _directory.Dispose();
    }

    [Fact]
    public async Task With_all_of_them_a_broker_appends_and_without_one_it_is_refused()
    {
        IReplicationEngine? engine = null;
        string last = "";
        await Eventually.TrueAsync(
            async () =>
            {
                (engine, last) = await TryAsync(Address, Login);
                return engine is not null;
            },
            TimeSpan.FromSeconds(30),
            () => last
        );
        await using (engine!)
        {
            IReplicatedStream stream = await engine!.CreateStreamAsync("LQ_login", 1, Cancelled);
            Assert.Equal(EntryAppend.Stored(1), await stream.AppendAsync(EntryKind.Data, new byte[9], 0, Cancelled));
        }

        await File.WriteAllTextAsync(_directory.File("guess"), "guess", Cancelled);
        // A start does not wait for a login to be accepted some day.
        await Assert.ThrowsAsync<ArgumentException>(() =>
            NatsReplication.ConnectAsync(
                Address,
                null,
                "shop",
                Login with
                {
                    PasswordFile = _directory.File("guess"),
                },
                NullLoggerFactory.Instance,
                Cancelled
            )
        );
        foreach (
            NatsLogin wrong in new[]
            {
                Login with
                {
                    PasswordFile = _directory.File("guess"),
                },
                Login with
                {
                    User = null,
                    PasswordFile = null,
                },
                Login with
                {
                    CaFile = _directory.File("other.pem"),
                },
                Login with
                {
                    CertificateFile = null,
                    KeyFile = null,
                },
            }
        )
        {
            (IReplicationEngine? connected, string why) = await TryAsync(Address, wrong);
            Assert.Null(connected);
            Assert.Contains("Connect to ", why, StringComparison.Ordinal);
            Assert.DoesNotContain(Password, why, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void What_is_missing_or_cannot_be_read_is_named()
    {
        Assert.Equal(
            "User and PasswordFile go together, and one of them is missing",
            Refused(Login with { PasswordFile = null })
        );
        Assert.Equal(
            "User and PasswordFile go together, and one of them is missing",
            Refused(Login with { User = null })
        );
        Assert.StartsWith(
            $"PasswordFile '{_directory.File("nowhere")}' cannot be read: ",
            Refused(Login with { PasswordFile = _directory.File("nowhere") })
        );
        File.WriteAllText(_directory.File("empty"), "\n");
        Assert.Equal(
            $"PasswordFile '{_directory.File("empty")}' is empty",
            Refused(Login with { PasswordFile = _directory.File("empty") })
        );
        Assert.Contains(
            "CaFile",
            Refused(Login with { CaFile = _directory.File("nowhere") }),
            StringComparison.Ordinal
        );
        Assert.DoesNotContain(
            Password,
            NatsReplication.Options(Address, null, "shop", Login, NullLoggerFactory.Instance).ToString(),
            StringComparison.Ordinal
        );
        Assert.Contains(
            "http://HOST:PORT",
            Assert
                .ThrowsAny<ArgumentException>(() =>
                    NatsReplication.Options(Address, "n1:8222", "shop", Login, NullLoggerFactory.Instance)
                )
                .Message,
            StringComparison.Ordinal
        );
    }

    private static async Task<(IReplicationEngine? Engine, string Why)> TryAsync(string address, NatsLogin login)
    {
        try
        {
            NatsEngineOptions options = NatsReplication.Options(
                address,
                monitoring: null,
                "shop",
                login,
                NullLoggerFactory.Instance
            );
            return (
                await JetStreamEngine.ConnectAsync(options with { ChangeTimeout = TimeSpan.FromSeconds(3) }, Cancelled),
                ""
            );
        }
        catch (ReplicationException e)
        {
            return (null, e.Message);
        }
    }

    private string Refused(NatsLogin login) =>
        Assert
            .ThrowsAny<ArgumentException>(() =>
                NatsReplication.Options(Address, null, "shop", login, NullLoggerFactory.Instance)
            )
            .Message;

    private X509Certificate2 MakeAuthority(string name)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, critical: true));
        X509Certificate2 made = request.CreateSelfSigned(
            DateTimeOffset.UtcNow.AddDays(-1),
            DateTimeOffset.UtcNow.AddDays(2)
        );
        File.WriteAllText(_directory.File($"{name}.pem"), made.ExportCertificatePem());
        return made;
    }

    private void Issue(X509Certificate2 authority, string name)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddIpAddress(System.Net.IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(
            new X509EnhancedKeyUsageExtension([new("1.3.6.1.5.5.7.3.1"), new("1.3.6.1.5.5.7.3.2")], critical: false)
        );
        using X509Certificate2 made = request.Create(
            authority,
            DateTimeOffset.UtcNow.AddHours(-1),
            DateTimeOffset.UtcNow.AddDays(1),
            RandomNumberGenerator.GetBytes(8)
        );
        File.WriteAllText(_directory.File($"{name}.pem"), made.ExportCertificatePem());
        File.WriteAllText(_directory.File($"{name}.key"), key.ExportPkcs8PrivateKeyPem());
    }
}

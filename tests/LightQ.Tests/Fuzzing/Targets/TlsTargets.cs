using System.Security.Cryptography.X509Certificates;
using System.Text;
using LightQ.Client;
using LightQ.Client.Encryption;
using LightQ.Server;
using LightQ.Server.Tls;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>Files of certificates and keys, as a broker and a client read them.</summary>
/// <remarks>
/// The valid ones are files, too: what is signed is never the same twice, and an input must be. They are for these
/// tests alone, and end in a hundred years.
/// </remarks>
internal static class TlsTargets
{
    private const int MaxLength = 2048,
        MaxAllocation = 256 * 1024,
        GateExecutions = 10_000;
    private static readonly DateTimeOffset Now = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);
    private static readonly byte[][] Tokens = FuzzText.Bytes(
        "-----BEGIN CERTIFICATE-----\n",
        "-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN EC PRIVATE KEY-----\n",
        "=",
        "\n",
        "\0",
        "\x30\x00",
        "\x04\x00",
        "\x06\x03\x55\x1d"
    );

    private static string KeyFile => PathOf("key.pem");

    public static IEnumerable<FuzzTarget> All()
    {
        byte[] pem = File.ReadAllBytes(PathOf("certificate.pem")),
            key = File.ReadAllBytes(KeyFile),
            pfx = File.ReadAllBytes(PathOf("certificate.pfx"));
        using X509Certificate2 certificate = X509Certificate2.CreateFromPem(Encoding.ASCII.GetString(pem));
        var own = new InFile(file =>
            Load(
                new TlsOptions
                {
                    CertificateFile = file,
                    KeyFile = File.ReadAllText(file).Contains("PRIVATE KEY", StringComparison.Ordinal) ? null : KeyFile,
                }
            )
        );
        yield return new FuzzTarget
        {
            Name = "broker-certificates",
            What = "a broker's certificate in PEM, DER or PFX, in PEM also with its key",
            Parse = own.Parse,
            Close = own.Close,
            Seeds = [pem, certificate.RawData, pfx, [.. pem, .. key]],
            Tokens = Tokens,
            Refusals = new HashSet<Type> { typeof(ServerStartException) },
            MaxLength = MaxLength,
            MaxAllocation = MaxAllocation,
            GateExecutions = GateExecutions,
        };
        var clients = new InFile(LoadClient);
        yield return new FuzzTarget
        {
            Name = "client-certificates",
            What = "a client's certificate, key and authority in PEM",
            Parse = clients.Parse,
            Close = clients.Close,
            Seeds =
            [
                [.. pem, .. key],
            ],
            Tokens = Tokens,
            Refusals = new HashSet<Type> { typeof(LightQException) },
            MaxLength = MaxLength,
            MaxAllocation = MaxAllocation,
            GateExecutions = GateExecutions,
        };
    }

    private static bool Load(TlsOptions options)
    {
        ServerCertificate loaded = CertificateFiles.Load(options, Now);
        using X509Certificate2 certificate = loaded.Certificate;
        foreach (X509Certificate2 authority in loaded.ClientAuthorities)
            authority.Dispose();
        CertificateTerms.Of(certificate, Now);
        return certificate.HasPrivateKey;
    }

    private static bool LoadClient(string file)
    {
        var tls = ClientTls.Load(
            new LightQClientOptions
            {
                Tls = true,
                CertificateAuthorityFile = file,
                ClientCertificateFile = file,
            }
        );
        foreach (X509Certificate2 authority in tls.CertificateChainPolicy!.CustomTrustStore)
            authority.Dispose();
        using X509Certificate2 certificate = tls.ClientCertificateContext!.TargetCertificate;
        return certificate.HasPrivateKey;
    }

    private static string PathOf(string name) =>
        Path.Combine(AppContext.BaseDirectory, "Fuzzing", "Certificates", name);

    /// <summary>Puts an input into a file, from which it is read.</summary>
    private sealed class InFile(Func<string, bool> read)
    {
        private string? _directory;

        public bool Parse(ReadOnlySpan<byte> input)
        {
            _directory ??= Directory.CreateTempSubdirectory("lightq-fuzz-").FullName;
            string file = Path.Combine(_directory, "file");
            File.WriteAllBytes(file, input);
            return read(file);
        }

        public void Close()
        {
            if (_directory is not null)
                Directory.Delete(_directory, recursive: true);
        }
    }
}

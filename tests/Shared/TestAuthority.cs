using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace LightQ.Tests.Shared;

/// <summary>A certificate authority made for one test.</summary>
internal sealed class TestAuthority : IDisposable
{
    private const string ForServers = "1.3.6.1.5.5.7.3.1",
        ForClients = "1.3.6.1.5.5.7.3.2";

    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly X509Certificate2 _certificate;

    public TestAuthority(string name = "Test authority")
    {
        var request = new CertificateRequest($"CN={name}", _key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(
                certificateAuthority: true,
                hasPathLengthConstraint: false,
                0,
                critical: true
            )
        );
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        _certificate = request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-10), DateTimeOffset.UtcNow.AddDays(10));
    }

    /// <summary>What whoever trusts it is given.</summary>
    public string Pem => _certificate.ExportCertificatePem();

    /// <summary>Issues a broker's certificate.</summary>
    /// <param name="names">DNS names and addresses; none means localhost and 127.0.0.1.</param>
    /// <param name="firstDay">From when it is valid, in days from now.</param>
    /// <param name="lastDay">Until when.</param>
    /// <param name="rsa">Whether its key is RSA instead of ECDSA.</param>
    /// <param name="now">When it is issued; null for now.</param>
    public TestCertificate IssueServer(
        string[]? names = null,
        int firstDay = -1,
        int lastDay = 1,
        bool rsa = false,
        DateTimeOffset? now = null
    ) =>
        Issue(
            "CN=broker",
            [ForServers],
            names ?? ["localhost", "127.0.0.1"],
            firstDay,
            lastDay,
            rsa,
            now ?? DateTimeOffset.UtcNow
        );

    /// <summary>Issues a client's certificate.</summary>
    public TestCertificate IssueClient(string name, string[]? dnsNames = null, int firstDay = -1, int lastDay = 1) =>
        Issue($"CN={name}, O=Test", [ForClients], dnsNames ?? [], firstDay, lastDay, rsa: false, DateTimeOffset.UtcNow);

    /// <summary>Issues the certificate of a cluster's node, which calls others as well.</summary>
    /// <param name="names">DNS names and addresses.</param>
    public TestCertificate IssueNode(params string[] names) =>
        Issue("CN=node", [ForServers, ForClients], names, -1, 1, rsa: false, DateTimeOffset.UtcNow);

    public void Dispose()
    {
        _certificate.Dispose();
        _key.Dispose();
    }

    private TestCertificate Issue(
        string subject,
        string[] purposes,
        string[] names,
        int firstDay,
        int lastDay,
        bool rsa,
        DateTimeOffset now
    )
    {
        AsymmetricAlgorithm key = rsa ? RSA.Create(2048) : ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = key is RSA r
            ? new CertificateRequest(subject, r, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1)
            : new CertificateRequest(subject, (ECDsa)key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, critical: true));
        request.CertificateExtensions.Add(
            new X509EnhancedKeyUsageExtension([.. purposes.Select(p => new Oid(p))], critical: false)
        );
        if (names.Length != 0)
            request.CertificateExtensions.Add(Names(names));
        X509SignatureGenerator signer = X509SignatureGenerator.CreateForECDsa(_key);
        using X509Certificate2 bare = request.Create(
            _certificate.SubjectName,
            signer,
            now.AddDays(firstDay),
            now.AddDays(lastDay),
            RandomNumberGenerator.GetBytes(8)
        );
        return new TestCertificate(
            key is RSA own ? bare.CopyWithPrivateKey(own) : bare.CopyWithPrivateKey((ECDsa)key),
            key
        );
    }

    private static X509Extension Names(string[] names)
    {
        var builder = new SubjectAlternativeNameBuilder();
        foreach (string name in names)
        {
            if (IPAddress.TryParse(name, out IPAddress? address))
                builder.AddIpAddress(address);
            else
                builder.AddDnsName(name);
        }
        return builder.Build();
    }
}

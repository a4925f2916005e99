using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace LightQ.Tests.Shared;

/// <summary>A certificate with its key, as files may hold them.</summary>
internal sealed class TestCertificate(X509Certificate2 certificate, AsymmetricAlgorithm key) : IDisposable
{
    private static readonly PbeParameters Encryption = new(
        PbeEncryptionAlgorithm.Aes256Cbc,
        HashAlgorithmName.SHA256,
        1000
    );

    public X509Certificate2 Certificate => certificate;

    public string Pem => certificate.ExportCertificatePem();

    public string KeyPem => key.ExportPkcs8PrivateKeyPem();

    public string EncryptedKeyPem(string password) => key.ExportEncryptedPkcs8PrivateKeyPem(password, Encryption);

    public byte[] Pfx(string? password) => certificate.Export(X509ContentType.Pfx, password);

    /// <summary>Writes certificate and key into a directory.</summary>
    /// <returns>The two paths.</returns>
    public (string Certificate, string Key) Write(string directory, string name)
    {
        (string file, string keyFile) = (
            Path.Combine(directory, $"{name}.crt"),
            Path.Combine(directory, $"{name}.key")
        );
        File.WriteAllText(keyFile, KeyPem);
        File.WriteAllText(file, Pem);
        return (file, keyFile);
    }

    public void Dispose()
    {
        certificate.Dispose();
        key.Dispose();
    }
}

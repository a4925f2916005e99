using System.Globalization;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;

namespace LightQ.Server.Tls;

/// <summary>Reads certificates and keys. Every failure names the setting, the file and the fault.</summary>
internal static class CertificateFiles
{
    private const string CertificateSetting = "Tls:CertificateFile",
        KeySetting = "Tls:KeyFile",
        PasswordSetting = "Tls:PasswordFile",
        ClientCaSetting = "Tls:ClientCaFile";
    private const string ServerPurpose = "1.3.6.1.5.5.7.3.1";

    /// <summary>Reads what the options name.</summary>
    /// <exception cref="ServerStartException">
    /// It cannot be used, with <see cref="ServerStartFailure.Configuration"/>.
    /// </exception>
    public static ServerCertificate Load(TlsOptions options, DateTimeOffset now)
    {
        try
        {
            return Read(options, now);
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException or NotSupportedException)
        {
            // The platform finds damage in parts of a certificate when they are looked at, and says so in many ways.
            throw Refuse(
                CertificateSetting,
                options.CertificateFile!,
                $"cannot be used: {e.Message.ReplaceLineEndings(" ").TrimEnd('.')}",
                e
            );
        }
    }

    private static ServerCertificate Read(TlsOptions options, DateTimeOffset now)
    {
        string? password = options.PasswordFile is { } passwordFile
            ? Encoding.UTF8.GetString(Read(PasswordSetting, passwordFile)).TrimEnd('\r', '\n')
            : null;
        X509Certificate2Collection authorities = options.ClientCaFile is { } clientCa ? ReadAuthorities(clientCa) : [];
        (X509Certificate2 certificate, X509Certificate2Collection others) = ReadCertificate(
            options,
            options.CertificateFile!,
            password
        );
        CheckUse(options.CertificateFile!, certificate, now);
        // Offline: the chain comes from the file, a start waits for nobody's web server.
        return new ServerCertificate(
            certificate,
            SslStreamCertificateContext.Create(certificate, others, offline: true),
            authorities
        );
    }

    /// <summary>The certificates of a PEM file.</summary>
    /// <returns>None when the text holds none.</returns>
    public static X509Certificate2Collection ParsePem(string text)
    {
        var certificates = new X509Certificate2Collection();
        certificates.ImportFromPem(text);
        return certificates;
    }

    private static X509Certificate2Collection ReadAuthorities(string file)
    {
        X509Certificate2Collection found = ReadPem(
            ClientCaSetting,
            file,
            Encoding.UTF8.GetString(Read(ClientCaSetting, file))
        );
        return found.Count != 0 ? found : throw Refuse(ClientCaSetting, file, "holds no certificate in PEM");
    }

    private static (X509Certificate2 Certificate, X509Certificate2Collection Others) ReadCertificate(
        TlsOptions options,
        string file,
        string? password
    )
    {
        byte[] bytes = Read(CertificateSetting, file);
        bool isPem = bytes.AsSpan().IndexOf("-----BEGIN "u8) >= 0;
        if (!isPem && TypeOf(file, bytes) == X509ContentType.Pfx)
            return ReadPfx(file, bytes, password);
        X509Certificate2Collection found = isPem
            ? ReadPem(CertificateSetting, file, Encoding.UTF8.GetString(bytes))
            : [X509CertificateLoader.LoadCertificate(bytes)];
        if (found.Count == 0)
            throw Refuse(CertificateSetting, file, "holds no certificate");
        X509Certificate2 certificate = AddKey(options, file, found[0], password);
        found.RemoveAt(0);
        return (certificate, found);
    }

    private static (X509Certificate2 Certificate, X509Certificate2Collection Others) ReadPfx(
        string file,
        byte[] bytes,
        string? password
    )
    {
        X509Certificate2Collection found;
        try
        {
            found = X509CertificateLoader.LoadPkcs12Collection(bytes, password);
        }
        catch (CryptographicException e)
        {
            throw Refuse(
                CertificateSetting,
                file,
                password is null
                    ? "is a PFX that needs a password: name a file with it by Tls:PasswordFile"
                    : "is a PFX that the password in Tls:PasswordFile does not open, or a damaged one",
                e
            );
        }
        X509Certificate2 certificate =
            found.FirstOrDefault(c => c.HasPrivateKey)
            ?? throw Refuse(CertificateSetting, file, "is a PFX without a private key");
        found.Remove(certificate);
        return (certificate, found);
    }

    private static X509Certificate2Collection ReadPem(string setting, string file, string text)
    {
        try
        {
            return ParsePem(text);
        }
        catch (CryptographicException e)
        {
            throw Refuse(setting, file, "holds a certificate that is damaged", e);
        }
    }

    /// <summary>A single certificate or a PFX; the check reads all of it.</summary>
    private static X509ContentType TypeOf(string file, byte[] bytes)
    {
        try
        {
            return
                X509Certificate2.GetCertContentType(bytes) is var type and (X509ContentType.Pfx or X509ContentType.Cert)
                ? type
                : throw Refuse(CertificateSetting, file, "is no certificate; allowed: PEM or PFX");
        }
        catch (CryptographicException e)
        {
            throw Refuse(CertificateSetting, file, "is no certificate; allowed: PEM or PFX", e);
        }
    }

    private static X509Certificate2 AddKey(
        TlsOptions options,
        string file,
        X509Certificate2 certificate,
        string? password
    )
    {
        (string setting, string keyFile) = options.KeyFile is { } own ? (KeySetting, own) : (CertificateSetting, file);
        string text = Encoding.UTF8.GetString(Read(setting, keyFile));
        using AsymmetricAlgorithm key = ReadKey(options, setting, keyFile, text, password);
        try
        {
            X509Certificate2? joined = (key, certificate.PublicKey.Oid.Value) switch
            {
                (RSA rsa, "1.2.840.113549.1.1.1") => certificate.CopyWithPrivateKey(rsa),
                (ECDsa ecdsa, "1.2.840.10045.2.1") => certificate.CopyWithPrivateKey(ecdsa),
                _ => null,
            };
            if (joined is null)
            {
                throw Refuse(
                    setting,
                    keyFile,
                    $"holds a key that does not go with the certificate in '{file}'",
                    null,
                    file
                );
            }
            // Windows hands TLS no key that is only in memory.
            return OperatingSystem.IsWindows()
                ? X509CertificateLoader.LoadPkcs12(joined.Export(X509ContentType.Pfx), null)
                : joined;
        }
        catch (ArgumentException e)
        {
            throw Refuse(setting, keyFile, $"holds a key that does not go with the certificate in '{file}'", e, file);
        }
    }

    private static AsymmetricAlgorithm ReadKey(
        TlsOptions options,
        string setting,
        string file,
        string text,
        string? password
    )
    {
        bool encrypted = text.Contains("BEGIN ENCRYPTED PRIVATE KEY", StringComparison.Ordinal);
        if (!encrypted && !text.Contains("PRIVATE KEY-----", StringComparison.Ordinal))
        {
            throw Refuse(
                setting,
                file,
                options.KeyFile is null
                    ? "holds no private key: name its file by Tls:KeyFile (--tls-key)"
                    : "holds no private key in PEM"
            );
        }

        if (text.Contains("Proc-Type: 4,ENCRYPTED", StringComparison.Ordinal))
            throw Refuse(setting, file, "holds a key encrypted in the old way: convert it with 'openssl pkcs8 -topk8'");
        if (encrypted && password is null)
            throw Refuse(setting, file, "holds a key that needs a password: name a file with it by Tls:PasswordFile");
        return Import(RSA.Create(), text, encrypted ? password : null)
            ?? Import(ECDsa.Create(), text, encrypted ? password : null)
            ?? throw Refuse(
                setting,
                file,
                encrypted
                    ? "holds a key that the password in Tls:PasswordFile does not open, or a damaged one"
                    : "holds a key that is damaged, is neither RSA nor ECDSA, or is on a curve that this machine does "
                        + "not know"
            );
    }

    private static AsymmetricAlgorithm? Import(AsymmetricAlgorithm key, string text, string? password)
    {
        try
        {
            if (password is null)
                key.ImportFromPem(text);
            else
                key.ImportFromEncryptedPem(text, password);
            return key;
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException or NotSupportedException)
        {
            key.Dispose(); // Of the other algorithm, or not to be had at all.
            return null;
        }
    }

    private static void CheckUse(string file, X509Certificate2 certificate, DateTimeOffset now)
    {
        if (now > certificate.NotAfter)
            throw Refuse(CertificateSetting, file, $"holds a certificate that expired on {Day(certificate.NotAfter)}");
        if (now < certificate.NotBefore)
        {
            throw Refuse(
                CertificateSetting,
                file,
                $"holds a certificate that is not valid before {Day(certificate.NotBefore)}"
            );
        }

        if (
            certificate
                .Extensions.OfType<X509EnhancedKeyUsageExtension>()
                .Any(e => e.EnhancedKeyUsages[ServerPurpose] is null)
        )
        {
            throw Refuse(
                CertificateSetting,
                file,
                "holds a certificate that is not for servers (its extended key usage lacks serverAuth)"
            );
        }
    }

    private static byte[] Read(string setting, string file)
    {
        try
        {
            byte[] bytes = File.ReadAllBytes(file);
            return bytes.Length != 0 ? bytes : throw Refuse(setting, file, "is empty");
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            throw Refuse(setting, file, "does not exist", e);
        }
        catch (UnauthorizedAccessException e) when (Directory.Exists(file))
        {
            throw Refuse(setting, file, "is a directory", e);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Refuse(setting, file, $"cannot be read: {e.Message.TrimEnd('.')}", e);
        }
    }

    private static string Day(DateTime time) =>
        time.ToUniversalTime().ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture);

    private static ServerStartException Refuse(
        string setting,
        string file,
        string fault,
        Exception? cause = null,
        params string[] others
    ) => new(ServerStartFailure.Configuration, $"{setting}: '{file}' {fault}.", cause, [file, .. others]);
}

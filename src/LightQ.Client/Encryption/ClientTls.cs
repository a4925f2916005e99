using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace LightQ.Client.Encryption;

/// <summary>The TLS settings of a client: the authorities it trusts, and the certificate it presents.</summary>
internal static class ClientTls
{
    /// <summary>Reads the files that the options name.</summary>
    /// <exception cref="LightQException">
    /// One of them cannot be used: <see cref="ErrorCode.InvalidArgument"/>.
    /// </exception>
    public static SslClientAuthenticationOptions Load(LightQClientOptions options)
    {
        var tls = new SslClientAuthenticationOptions
        {
            TargetHost = options.Host,
            EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13,
            AllowRenegotiation = false,
            RemoteCertificateValidationCallback = (_, certificate, chain, errors) =>
                errors == SslPolicyErrors.None
                    ? true
                    : throw new UntrustedBrokerException(
                        BrokerCertificate.ProblemOf(certificate, chain, errors, options)
                    ),
        };
        if (options.CertificateAuthorityFile is { } ca)
        {
            tls.CertificateChainPolicy = new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                RevocationMode = X509RevocationMode.NoCheck,
            };
            tls.CertificateChainPolicy.CustomTrustStore.AddRange(ReadPem("ca", ca));
        }
        if (options.ClientCertificateFile is { } file)
            tls.ClientCertificateContext = ReadOwn(file, options.ClientKeyFile ?? file);
        return tls;
    }

    private static SslStreamCertificateContext ReadOwn(string file, string keyFile)
    {
        X509Certificate2Collection chain = ReadPem("cert", file);
        chain.RemoveAt(0);
        string pem,
            key;
        try
        {
            (pem, key) = (File.ReadAllText(file), File.ReadAllText(keyFile));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Refuse("key", keyFile, "cannot be read", e);
        }
        try
        {
            X509Certificate2 certificate = X509Certificate2.CreateFromPem(pem, key);
            // Windows hands TLS no key that is only in memory.
            if (OperatingSystem.IsWindows())
                certificate = X509CertificateLoader.LoadPkcs12(certificate.Export(X509ContentType.Pfx), null);
            return SslStreamCertificateContext.Create(certificate, chain, offline: true);
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException or NotSupportedException)
        {
            throw Refuse("key", keyFile, WhatIsWrong(key, file, keyFile), e);
        }
    }

    private static string WhatIsWrong(string key, string file, string keyFile) =>
        !key.Contains("PRIVATE KEY-----", StringComparison.Ordinal)
            ? $"holds no private key in PEM{(keyFile == file ? ": name the file that does with key=FILE" : "")}"
        : key.Contains("ENCRYPTED", StringComparison.Ordinal)
            ? "holds a private key with a password, which clients do not take: 'openssl pkey' writes it without"
        : $"holds a private key that is damaged, or does not go with the certificate in '{file}'";

    private static X509Certificate2Collection ReadPem(string name, string file)
    {
        var certificates = new X509Certificate2Collection();
        try
        {
            certificates.ImportFromPemFile(file);
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            throw Refuse(name, file, "does not exist", e);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Refuse(name, file, "cannot be read", e);
        }
        catch (CryptographicException e)
        {
            throw Refuse(name, file, "holds a certificate that is damaged", e);
        }
        return certificates.Count != 0 ? certificates : throw Refuse(name, file, "holds no certificate in PEM", null);
    }

    private static LightQException Refuse(string name, string file, string fault, Exception? cause) =>
        new(ErrorCode.InvalidArgument, $"{name}: the file '{file}' {fault}.", cause);
}

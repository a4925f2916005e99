using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Tls;

/// <summary>
/// The certificate that a broker makes for itself in its data directory: for this machine's names, and trusted only by
/// clients that are given the file.
/// </summary>
internal static class SelfSignedCertificate
{
    /// <summary>What clients are given.</summary>
    public const string CertificateName = "tls-self-signed.crt";

    private const string Subject = "CN=LightQ self-signed";
    private const string KeyName = "tls-self-signed.key";
    private const string ServerPurpose = "1.3.6.1.5.5.7.3.1";
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;
    private static readonly TimeSpan Life = TimeSpan.FromDays(397); // What some clients accept at most.
    private static readonly TimeSpan Renewal = TimeSpan.FromDays(30);

    /// <summary>Makes the files unless they are there and last for a while.</summary>
    /// <param name="directory">The data directory.</param>
    /// <param name="options">The options that ask for it.</param>
    /// <param name="bind">
    /// Where the broker listens: beyond loopback the certificate is for this machine's addresses, too.
    /// </param>
    /// <param name="now">The time.</param>
    /// <param name="logger">
    /// Told when they are made, and when the certificate that is there is not for all of those: it stays, since clients
    /// have been given it.
    /// </param>
    /// <returns>The options that name them.</returns>
    public static TlsOptions EnsureIn(
        string directory,
        TlsOptions options,
        IPAddress bind,
        DateTimeOffset now,
        ILogger logger
    )
    {
        string certificate = Path.Combine(directory, CertificateName),
            key = Path.Combine(directory, KeyName);
        string[] names = [.. NamesOf(bind)];
        using X509Certificate2? kept = ReadIn(directory);
        if (kept is null || kept.NotAfter - now < Renewal)
        {
            Write(certificate, key, names, now);
            ServerLog.CertificateMade(logger, string.Join(", ", names), certificate);
        }
        else if (names.Where(n => !kept.MatchesHostname(n)).ToArray() is { Length: > 0 } lacking)
        {
            ServerLog.CertificateLacksNames(logger, certificate, string.Join(", ", lacking));
        }
        return options with { SelfSigned = false, CertificateFile = certificate, KeyFile = key };
    }

    /// <summary>Whether a broker has made a certificate for itself.</summary>
    public static bool Is(X509Certificate2 certificate) =>
        certificate.Subject == Subject && certificate.Issuer == Subject;

    /// <summary>
    /// The certificate that is in a data directory; null when there is none, it is damaged, or a crash came between the
    /// two files: the next start makes another.
    /// </summary>
    public static X509Certificate2? ReadIn(string directory)
    {
        string certificateFile = Path.Combine(directory, CertificateName),
            keyFile = Path.Combine(directory, KeyName);
        if (!File.Exists(certificateFile) || !File.Exists(keyFile))
            return null;
        try
        {
            return X509Certificate2.CreateFromPemFile(certificateFile, keyFile);
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            return null;
        }
    }

    private static void Write(string certificateFile, string keyFile, string[] names, DateTimeOffset now)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(Subject, key, HashAlgorithmName.SHA256);
        // Clients on OpenSSL take a certificate for its own authority only if it may sign.
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(
                certificateAuthority: true,
                hasPathLengthConstraint: true,
                pathLengthConstraint: 0,
                critical: true
            )
        );
        request.CertificateExtensions.Add(
            new X509KeyUsageExtension(
                X509KeyUsageFlags.DigitalSignature | X509KeyUsageFlags.KeyCertSign,
                critical: true
            )
        );
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid(ServerPurpose)], critical: false));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        request.CertificateExtensions.Add(Alternatives(names));
        using X509Certificate2 certificate = request.CreateSelfSigned(now - TimeSpan.FromHours(1), now + Life);
        Replace(keyFile, key.ExportPkcs8PrivateKeyPem(), OwnerOnly);
        Replace(
            certificateFile,
            certificate.ExportCertificatePem(),
            OwnerOnly | UnixFileMode.GroupRead | UnixFileMode.OtherRead
        );
    }

    private static IEnumerable<string> NamesOf(IPAddress bind)
    {
        yield return "localhost";
        string host = Dns.GetHostName();
        if (
            !host.Equals("localhost", StringComparison.OrdinalIgnoreCase)
            && Uri.CheckHostName(host) == UriHostNameType.Dns
        )
        {
            yield return host;
        }

        yield return $"{IPAddress.Loopback}";
        yield return $"{IPAddress.IPv6Loopback}";
        foreach (IPAddress address in MachineAddresses.Of(bind))
            yield return $"{address}";
    }

    private static X509Extension Alternatives(string[] names)
    {
        var alternatives = new SubjectAlternativeNameBuilder();
        foreach (string name in names)
        {
            if (IPAddress.TryParse(name, out IPAddress? address))
                alternatives.AddIpAddress(address);
            else
                alternatives.AddDnsName(name);
        }
        return alternatives.Build();
    }

    /// <summary>Written under another name first, so that a crash leaves no half of a file.</summary>
    private static void Replace(string file, string text, UnixFileMode mode)
    {
        string temporary = file + ".new";
        File.Delete(temporary);
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = mode;
        using (var stream = new StreamWriter(temporary, options))
            stream.WriteLine(text);
        File.Move(temporary, file, overwrite: true);
    }
}

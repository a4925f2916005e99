using System.Net;
using System.Net.Security;
using Microsoft.Extensions.Logging.Abstractions;

namespace LightQ.Server.Tls;

/// <summary>
/// The certificate that a server with <see cref="TlsOptions"/> presents, for programs that also present it elsewhere.
/// </summary>
public static class TlsCertificate
{
    /// <summary>
    /// Creates a certificate for this machine's names and loopback in a directory, valid for 397 days, as
    /// <see cref="TlsOptions.SelfSigned"/> does in the data directory. An existing certificate that is valid for 30
    /// more days is kept.
    /// </summary>
    /// <param name="directory">A directory that exists.</param>
    /// <returns>Options that name the certificate and its key.</returns>
    public static TlsOptions MakeSelfSigned(string directory)
    {
        var options = new TlsOptions { SelfSigned = true };
        DateTimeOffset now = TimeProvider.System.GetUtcNow();
        return SelfSignedCertificate.EnsureIn(directory, options, IPAddress.Loopback, now, NullLogger.Instance);
    }

    /// <summary>
    /// Reads the certificate that <see cref="TlsOptions.CertificateFile"/> names, its key and its chain, and checks it
    /// as the start of a server does.
    /// </summary>
    /// <exception cref="InvalidOperationException">There is no <see cref="TlsOptions.CertificateFile"/>.</exception>
    /// <exception cref="ServerStartException">The certificate cannot be used; the message gives the reason.</exception>
    public static SslStreamCertificateContext Load(TlsOptions options) =>
        options.CertificateFile is null
            ? throw new InvalidOperationException($"There is no {nameof(TlsOptions.CertificateFile)}.")
            : CertificateFiles.Load(options, TimeProvider.System.GetUtcNow()).Context;
}

using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace LightQ.Server.Tls;

/// <summary>What one reading of the certificate files gave.</summary>
/// <param name="Certificate">The broker's own certificate, with its private key.</param>
/// <param name="Context">The same with the chain that is sent to clients.</param>
/// <param name="ClientAuthorities">Who may have issued clients' certificates.</param>
internal sealed record ServerCertificate(
    X509Certificate2 Certificate,
    SslStreamCertificateContext Context,
    X509Certificate2Collection ClientAuthorities
);

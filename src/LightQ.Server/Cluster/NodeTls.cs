using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using LightQ.Server.Tls;

namespace LightQ.Server.Cluster;

/// <summary>How a node checks the certificates of others, and shows its own.</summary>
internal static class NodeTls
{
    /// <summary>The rules; null where this broker's ports have no TLS, and so the others' have none.</summary>
    /// <param name="tls">This broker's certificate.</param>
    /// <param name="caFile">The authorities that others' come from; null for the machine's own list.</param>
    /// <exception cref="ServerStartException">The file cannot be used.</exception>
    public static SslClientAuthenticationOptions? OptionsOf(ServerTls? tls, string? caFile)
    {
        if (tls is null)
            return null;
        var policy = new X509ChainPolicy { RevocationMode = X509RevocationMode.NoCheck };
        if (caFile is not null)
        {
            policy.TrustMode = X509ChainTrustMode.CustomRootTrust;
            policy.CustomTrustStore.AddRange(Read(caFile));
        }
        return new SslClientAuthenticationOptions
        {
            CertificateChainPolicy = policy,
            LocalCertificateSelectionCallback = (_, _, _, _, _) => tls.Certificate,
        };
    }

    /// <summary>Why a connection to a node was not made, if TLS was the reason.</summary>
    public static string? ProblemOf(Exception? thrown) =>
        thrown switch
        {
            null => null,
            AuthenticationException e => e.Message,
            _ => ProblemOf(thrown.InnerException),
        };

    private static X509Certificate2Collection Read(string file)
    {
        var found = new X509Certificate2Collection();
        try
        {
            found.ImportFromPemFile(file);
            return found.Count != 0 ? found : throw new CryptographicException("there is no certificate in it");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or CryptographicException)
        {
            throw new ServerStartException(
                ServerStartFailure.Configuration,
                $"Cluster:NodeCaFile is '{file}', which cannot be used: {e.Message}; allowed: a file with the "
                    + $"authorities (PEM) of the nodes' certificates.",
                e
            );
        }
    }
}

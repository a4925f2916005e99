using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using LightQ.Server.Tls;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Cluster;

/// <summary>How a node checks the certificates of others, and shows its own. Thread-safe.</summary>
/// <remarks>Other authorities in the file are in force for the next connection, as are those of clients.</remarks>
internal sealed class NodeTls
{
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);

    private readonly ServerTls _tls;
    private readonly string? _caFile;
    private readonly FileStamps _stamps;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly Lock _lock = new();
    private SslClientAuthenticationOptions _current;
    private long _looked;

    private NodeTls(ServerTls tls, string? caFile, TimeProvider time, ILogger logger)
    {
        (_tls, _caFile, _time, _logger) = (tls, caFile, time, logger);
        _stamps = new FileStamps(caFile is null ? [] : [caFile]);
        _stamps.Update();
        _looked = time.GetTimestamp();
        _current = Read();
    }

    /// <summary>The rules of the next connection; others when the authorities are. May read the file.</summary>
    public SslClientAuthenticationOptions Current
    {
        get
        {
            lock (_lock)
            {
                if (_time.GetElapsedTime(_looked) < LookInterval)
                    return _current;
                _looked = _time.GetTimestamp();
                _tls.LookForChanges();
                if (_stamps.Update())
                    Look();
                return _current;
            }
        }
    }

    /// <summary>The rules; null where this broker's ports have no TLS, and so the others' have none.</summary>
    /// <param name="tls">This broker's certificate.</param>
    /// <param name="caFile">The authorities that others' come from; null for the machine's own list.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">Gets why other authorities cannot be used.</param>
    /// <exception cref="ServerStartException">The file cannot be used.</exception>
    public static NodeTls? Of(ServerTls? tls, string? caFile, TimeProvider time, ILogger logger) =>
        tls is null ? null : new NodeTls(tls, caFile, time, logger);

    /// <summary>Why a connection to a node was not made, if TLS was the reason.</summary>
    public static string? ProblemOf(Exception? thrown) =>
        thrown switch
        {
            null => null,
            AuthenticationException e => e.Message,
            _ => ProblemOf(thrown.InnerException),
        };

    private void Look()
    {
        try
        {
            _current = Read();
        }
        catch (ServerStartException e)
        {
            ServerLog.NodeAuthoritiesKept(_logger, e.Message);
        }
    }

    private SslClientAuthenticationOptions Read()
    {
        var policy = new X509ChainPolicy { RevocationMode = X509RevocationMode.NoCheck };
        if (_caFile is not null)
        {
            policy.TrustMode = X509ChainTrustMode.CustomRootTrust;
            policy.CustomTrustStore.AddRange(Read(_caFile));
        }
        return new SslClientAuthenticationOptions
        {
            CertificateChainPolicy = policy,
            LocalCertificateSelectionCallback = (_, _, _, _, _) => _tls.Certificate,
        };
    }

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

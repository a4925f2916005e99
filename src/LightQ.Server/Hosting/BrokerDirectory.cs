using LightQ.Broker;
using LightQ.Broker.Replication;
using LightQ.Server.Tls;
using LightQ.Storage;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Hosting;

/// <summary>The directory a server works in: the configured one, or a temporary one of its own.</summary>
internal sealed class BrokerDirectory
{
    private readonly bool _temporary;

    private BrokerDirectory(string path, bool temporary)
    {
        Path = path;
        _temporary = temporary;
    }

    /// <summary>The full path.</summary>
    public string Path { get; }

    /// <param name="configured">The path, or null for a temporary directory.</param>
    public static BrokerDirectory Choose(string? configured) =>
        configured is null
            ? new BrokerDirectory(Directory.CreateTempSubdirectory("lightq-").FullName, temporary: true)
            : new BrokerDirectory(System.IO.Path.GetFullPath(configured), temporary: false);

    /// <summary>Opens the engine on this directory.</summary>
    /// <exception cref="ServerStartException">The directory cannot be used, or what it holds is damaged.</exception>
    /// <exception cref="ReplicationException">The cluster's catalog cannot be read now.</exception>
    public async Task<LightQBroker> OpenBrokerAsync(BrokerOptions options, TimeProvider time)
    {
        try
        {
            return await LightQBroker.OpenAsync(Path, options, time).ConfigureAwait(false);
        }
        catch (DataDirectoryException e)
        {
            bool denied = e.InnerException is UnauthorizedAccessException;
            throw new ServerStartException(
                denied ? ServerStartFailure.AccessDenied : ServerStartFailure.DataDirectory,
                $"{e.Message} Choose another with --data, or see to this one.",
                e
            );
        }
        catch (JournalCorruptException e)
        {
            throw new ServerStartException(ServerStartFailure.DamagedData, e.Message, e);
        }
        catch (BrokerException e)
        {
            throw new ServerStartException(ServerStartFailure.Configuration, $"Cluster:Engine: {e.Message}", e);
        }
        catch (IOException e)
        {
            throw new ServerStartException(
                ServerStartFailure.DataDirectory,
                $"The data directory '{Path}' cannot be opened: {e.Message}",
                e
            );
        }
    }

    /// <summary>TLS as the options say; a certificate that the broker makes itself is in this directory.</summary>
    /// <returns>Null without TLS.</returns>
    /// <exception cref="ServerStartException">A certificate cannot be used.</exception>
    public ServerTls? OpenTls(LightQServerOptions options, ILogger logger)
    {
        if (!options.Tls.IsEnabled)
            return null;
        TimeProvider time = options.TimeProvider;
        return new ServerTls(
            options.Tls.SelfSigned
                ? SelfSignedCertificate.EnsureIn(Path, options.Tls, options.Bind, time.GetUtcNow(), logger)
                : options.Tls,
            time,
            logger
        );
    }

    /// <summary>Deletes a temporary directory.</summary>
    public void Leave(ILogger logger)
    {
        if (!_temporary)
            return;
        try
        {
            Directory.Delete(Path, recursive: true);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            ServerLog.DirectoryLeft(logger, Path, e.Message);
        }
    }
}

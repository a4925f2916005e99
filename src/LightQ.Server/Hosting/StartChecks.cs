using System.Net;
using LightQ.Broker;
using LightQ.Broker.Topics;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Hosting;

/// <summary>What no single setting can be blamed for.</summary>
internal static class StartChecks
{
    /// <summary>Refuses options that contradict each other or would open the broker to a network unprotected.</summary>
    /// <exception cref="ServerStartException">They do.</exception>
    public static void Check(LightQServerOptions options)
    {
        CheckTls(options.Tls);
        CheckExposure(options);
        int[] ports = [.. new[] { options.DataPort, options.ControlPort, options.WebPort }.Where(p => p != 0)];
        if (ports.Distinct().Count() != ports.Length)
        {
            throw Refuse(
                $"DataPort, ControlPort and WebPort are {options.DataPort}, {options.ControlPort} and "
                    + $"{options.WebPort}: each needs a port of its own."
            );
        }
    }

    /// <summary>Logs the partitions that could not be opened; those that other nodes lead are none.</summary>
    public static void LogFailedTopics(LightQBroker broker, ILogger logger)
    {
        foreach (Partition partition in broker.Topics.SelectMany(topic => topic.Partitions))
        {
            if (partition.Refusal is { } refusal && refusal.Code != ErrorCode.NotLeader)
            {
                ServerLog.TopicFailed(
                    logger,
                    partition.Topic.Name,
                    partition.Topic.Describe(partition.Index, refusal.Detail)
                );
            }
        }
    }

    /// <summary>
    /// Ports that other machines can reach are encrypted and require a login, so no password is sent unencrypted and no
    /// client gets in without one.
    /// </summary>
    private static void CheckExposure(LightQServerOptions options)
    {
        if (IPAddress.IsLoopback(options.Bind) || options.Insecure || (options.Tls.IsEnabled && options.RequireAuth))
            return;
        string lacks = (options.Tls.IsEnabled, options.RequireAuth) switch
        {
            (false, false) =>
                "there is neither TLS nor a login: give --tls-cert and --tls-key (or --tls-self-signed), and "
                    + "--require-auth",
            (false, true) => "passwords and messages would travel in the clear: give --tls-cert and --tls-key (or "
                + "--tls-self-signed)",
            _ => "any client could do everything: give --require-auth",
        };
        throw Refuse(
            $"Bind is {options.Bind}, which other machines can reach, and {lacks}. Or listen on 127.0.0.1, or give "
                + $"--insecure on a network that you trust."
        );
    }

    private static void CheckTls(TlsOptions tls)
    {
        if (tls.SelfSigned && tls.CertificateFile is not null)
            throw Refuse("Tls:SelfSigned and Tls:CertificateFile are both given: choose one certificate.");
        if (tls.KeyFile is not null && tls.CertificateFile is null)
            throw Refuse("Tls:KeyFile is given without Tls:CertificateFile (--tls-cert).");
        if (tls.ClientCertificates != ClientCertificates.None && tls.ClientCaFile is null)
        {
            throw Refuse(
                "Tls:ClientCertificates needs Tls:ClientCaFile (--tls-client-ca): without it no client is trusted."
            );
        }

        if (tls.ClientCaFile is not null && !tls.IsEnabled)
        {
            throw Refuse(
                "Tls:ClientCaFile is given without a certificate of the broker's own: give --tls-cert and --tls-key."
            );
        }
    }

    private static ServerStartException Refuse(string message) => new(ServerStartFailure.Configuration, message);
}

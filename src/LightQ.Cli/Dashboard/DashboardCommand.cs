using System.CommandLine;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Server;

namespace LightQ.Cli.Dashboard;

/// <summary><c>lightq dashboard</c>: serves the dashboard on this machine for a broker elsewhere.</summary>
internal static class DashboardCommand
{
    public static Command Create()
    {
        var broker = new BrokerChoice();
        Option<int> port = new("--port")
        {
            Description = "The port on this machine; 0, the default, takes a free one.",
            HelpName = "PORT",
        };
        var command = new ExampleCommand(
            "dashboard",
            "Serve the dashboard on this machine for a broker elsewhere, until Ctrl-C. Where the broker wants a login, "
                + "sign in on the page: it does not use the user of --server. A broker serves it itself, too, on its "
                + "web port.",
            "lightq dashboard --server 'lightq://broker.example?tls=true'"
        )
        {
            port,
        };
        broker.AddTo(command);
        command.SetAction(
            async (parsed, cancellationToken) =>
            {
                LightQClientOptions options = broker.Read(parsed);
                await CheckSecretsAsync(options, cancellationToken);
                var control = new UriBuilder(options.Tls ? "https" : "http", options.Host, options.ControlPort);
                await using DashboardHost host = await DashboardHost.StartAsync(
                    control.Uri,
                    options.Tls ? TlsOf(options) : null,
                    parsed.GetValue(port),
                    cancellationToken
                );
                CommandConsole.Line($"{host.Address} shows {options.Host}; Ctrl-C ends it.");
                await Task.Delay(Timeout.Infinite, cancellationToken)
                    .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                return ExitCode.Ok;
            }
        );
        return command;
    }

    /// <summary>Passwords that are typed on the page go beyond this machine with TLS only.</summary>
    private static async Task CheckSecretsAsync(LightQClientOptions options, CancellationToken cancellationToken)
    {
        if (options.Tls || options.Insecure)
            return;
        IPAddress[] addresses;
        try
        {
            addresses = await Dns.GetHostAddressesAsync(options.Host, cancellationToken);
        }
        catch (SocketException e)
        {
            throw new ServerStartException(
                ServerStartFailure.Configuration,
                $"The host '{options.Host}' has no address: {e.Message}.",
                e
            );
        }

        if (!addresses.All(IPAddress.IsLoopback))
        {
            throw new ServerStartException(
                ServerStartFailure.Configuration,
                $"A password that is typed on the page would go to {options.Host} in clear: write tls=true behind the "
                    + "connection string, or insecure=true in a network that no stranger reads."
            );
        }
    }

    /// <summary>
    /// The authority of the connection string. Its client certificate is left out: whoever opens the page would be its
    /// user.
    /// </summary>
    private static SslClientAuthenticationOptions TlsOf(LightQClientOptions options)
    {
        var tls = new SslClientAuthenticationOptions { TargetHost = options.Host };
        if (options.CertificateAuthorityFile is { } file)
        {
            var authorities = new X509Certificate2Collection();
            try
            {
                authorities.ImportFromPemFile(file);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException or CryptographicException)
            {
                throw new ServerStartException(
                    ServerStartFailure.Configuration,
                    $"ca={file} cannot be used: {e.Message}",
                    e
                );
            }

            tls.CertificateChainPolicy = new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                RevocationMode = X509RevocationMode.NoCheck,
            };
            tls.CertificateChainPolicy.CustomTrustStore.AddRange(authorities);
        }

        return tls;
    }
}

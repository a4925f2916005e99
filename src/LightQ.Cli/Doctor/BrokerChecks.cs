using System.Globalization;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Server;
using LightQ.Server.Diagnosis;

namespace LightQ.Cli.Doctor;

/// <summary>A broker that runs, seen from here.</summary>
internal sealed class BrokerChecks(LightQClientOptions options)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    public async IAsyncEnumerable<Finding> RunAsync()
    {
        foreach (
            (string name, int port) in new[]
            {
                ("broker's data port", options.DataPort),
                ("broker's control port", options.ControlPort),
            }
        )
        {
            Finding reached = await ReachAsync(name, port);
            yield return reached;
            if (reached.Result == CheckResult.Failed)
                yield break;
        }
        Finding? certificate = options.Tls ? await CertificateAsync() : Plain();
        if (certificate is not null)
            yield return certificate;
        await foreach (Finding finding in LogInAsync())
            yield return finding;
    }

    private async Task<Finding> ReachAsync(string check, int port)
    {
        string where = $"{options.Host}:{port.ToString(CultureInfo.InvariantCulture)}";
        try
        {
            using var socket = new TcpClient();
            using var late = new CancellationTokenSource(Patience);
            await socket.ConnectAsync(options.Host, port, late.Token);
            return Finding.Ok(check, where);
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException)
        {
            string why = e is SocketException ? e.Message : $"no answer in {Patience.TotalSeconds:0} s";
            return Finding.Failed(
                check,
                $"{where}: {why}",
                "Is the broker running, are these its ports, does its --bind reach beyond its machine, and does a "
                    + "firewall let it through?"
            );
        }
    }

    private Finding? Plain() =>
        options.Host is "localhost"
        || (IPAddress.TryParse(options.Host.Trim('[', ']'), out IPAddress? address) && IPAddress.IsLoopback(address))
            ? null
            : Finding.Warning(
                "broker's certificate",
                options.Insecure
                    ? "none: passwords and messages travel in the clear"
                    : "none: messages travel in the clear",
                "Start the broker with a certificate and connect with ?tls=true."
            );

    private async Task<Finding> CertificateAsync()
    {
        const string Check = "broker's certificate";
        Finding? ending = null;
        try
        {
            SslClientAuthenticationOptions tls = LightQClient.LoadTls(options);
            tls.ApplicationProtocols = [SslApplicationProtocol.Http2]; // The port speaks nothing else.
            RemoteCertificateValidationCallback verify = tls.RemoteCertificateValidationCallback!;
            tls.RemoteCertificateValidationCallback = (sender, certificate, chain, errors) =>
            {
                if (certificate is X509Certificate2 shown)
                    ending = ServerDiagnosis.ExamineCertificate(Check, shown, DateTimeOffset.UtcNow);
                return verify(sender, certificate, chain, errors);
            };
            using var socket = new TcpClient();
            using var late = new CancellationTokenSource(Patience);
            await socket.ConnectAsync(options.Host, options.ControlPort, late.Token);
            using var stream = new SslStream(socket.GetStream());
            await stream.AuthenticateAsClientAsync(tls, late.Token);
            return ending ?? Finding.Failed(Check, "none was shown", "See docs/operate/tls.md.");
        }
        catch (Exception e)
            when (e
                    is AuthenticationException
                        or LightQException
                        or IOException
                        or SocketException
                        or OperationCanceledException
            )
        {
            return ending is { Result: CheckResult.Failed }
                ? ending
                : Finding.Failed(
                    Check,
                    $"no handshake: {Failure.OneLine(e.Message)}",
                    "Does the broker have TLS on this port, and is its authority in the file that ?ca= names? See "
                        + "docs/operate/tls.md."
                );
        }
    }

    private async IAsyncEnumerable<Finding> LogInAsync()
    {
        await using var client = new LightQClient(options);
        yield return await TryAsync(
            "broker's control plane",
            async token =>
            {
                CallerInfo caller = await client.Users.WhoAmIAsync(token);
                return Finding.Ok(
                    "broker's control plane",
                    $"logged in as {caller.User}{(caller.IsAdmin ? ", who may do everything" : "")}"
                );
            }
        );
        yield return await TryAsync(
            "broker's data plane",
            async token =>
            {
                TimeSpan roundTrip = await client.PingAsync(token);
                return Finding.Ok(
                    "broker's data plane",
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"logged in, round trip {roundTrip.TotalMilliseconds:0.000} ms"
                    )
                );
            }
        );
        yield return await TryAsync(
            "broker's catalog",
            async token =>
                (await client.Stats.GetBrokerAsync(token)).IsCatalogUnconfirmed
                    ? Finding.Warning(
                        "broker's catalog",
                        "it was repaired and has lost changes: only admin may log in",
                        "Put users, rights, tokens and topics right, then lightq server confirm-catalog."
                    )
                    : Finding.Ok("broker's catalog", "nothing to confirm")
        );
        yield return await TryAsync(ClockChecks.Check, token => ClockChecks.RunAsync(client, token));
        yield return await TryAsync(
            "broker's topics",
            async token =>
            {
                int topics = 0;
                List<TopicInfo> failing = [];
                await foreach (TopicInfo topic in client.Topics.ListAsync(token))
                {
                    topics++;
                    if (topic.Failure.Length != 0 || topic.Damage.Count != 0)
                        failing.Add(topic);
                }
                return Judge(topics, failing);
            }
        );
        yield return await TryAsync(RetentionChecks.Check, token => RetentionChecks.RunAsync(client, token));
        yield return await TryAsync(DedupChecks.Check, token => DedupChecks.RunAsync(client, token));
        ClusterInfo? cluster = null;
        Finding nodes = await TryAsync(
            NodeChecks.Check,
            async token =>
            {
                cluster = await client.Cluster.GetAsync(cancellationToken: token);
                return Finding.Ok(NodeChecks.Check, "");
            }
        );
        foreach (Finding finding in cluster is null ? [nodes] : NodeChecks.Judge(cluster))
            yield return finding;
        yield return await TryAsync(
            "broker's version",
            async token =>
            {
                string version = (await client.Stats.GetBrokerAsync(token)).Version;
                return version == LightQServer.Version
                    ? Finding.Ok("broker's version", version)
                    : Finding.Warning(
                        "broker's version",
                        $"{version}; this tool is {LightQServer.Version}",
                        "Use the tool of the broker's version, or update the broker."
                    );
            }
        );
    }

    private static Finding Judge(int topics, List<TopicInfo> failing)
    {
        const string Check = "broker's topics";
        if (failing.Count == 0)
            return Finding.Ok(Check, string.Create(CultureInfo.InvariantCulture, $"{topics}, all served as a whole"));
        TopicInfo first = failing[0];
        string what = first.Failure.Length != 0 ? Failure.OneLine(first.Failure) : "messages of it are damaged";
        return Finding.Warning(
            Check,
            string.Create(
                CultureInfo.InvariantCulture,
                $"{failing.Count} of {topics} are not served as a whole; {first.Name}: {what}"
            ),
            $"lightq topic show {first.Name} says more."
        );
    }

    private static async Task<Finding> TryAsync(string check, Func<CancellationToken, Task<Finding>> look)
    {
        using var late = new CancellationTokenSource(Patience);
        try
        {
            return await look(late.Token);
        }
        catch (Exception e) when (e is LightQException or OperationCanceledException)
        {
            string why =
                e is LightQException && Failure.TryExplain(e, out Failure failure)
                    ? failure.Message
                    : $"no answer in {Patience.TotalSeconds:0} s";
            return Finding.Failed(
                check,
                why,
                "See docs/operate/security.md for logins, and docs/operate/tls.md for certificates."
            );
        }
    }
}

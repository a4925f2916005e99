using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using LightQ.Client;
using LightQ.Tests.Shared;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.Tls;

public sealed class TlsReloadTests
{
    [Fact]
    public async Task A_new_certificate_is_shown_on_all_ports_and_open_connections_stay()
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync();
        await using var client = new LightQClient(files.ClientOptions(server));
        var states = new List<ConnectionState>();
        client.ConnectionStateChanged += (_, e) => states.Add(e.State);
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Transient },
            TestContext.Current.CancellationToken
        );
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );
        string before = await ShownAsync(server.DataPort);

        using TestCertificate next = files.Authority.IssueServer();
        next.Write(Path.GetDirectoryName(files.CertificateFile)!, "broker");
        Assert.True(server.Server.ReloadCertificate());

        foreach (int port in (int[])[server.DataPort, server.ControlPort, server.WebPort])
            Assert.Equal(next.Certificate.Thumbprint, await ShownAsync(port));
        Assert.NotEqual(before, next.Certificate.Thumbprint);
        await producer.PublishAsync(
            "still there"u8.ToArray(),
            cancellationToken: TestContext.Current.CancellationToken
        );
        Assert.DoesNotContain(ConnectionState.Reconnecting, states);

        File.WriteAllText(files.KeyFile, "no key");
        Assert.False(server.Server.ReloadCertificate());
        Assert.Contains("holds no private key", Assert.Single(server.Log.Errors), StringComparison.Ordinal);
        Assert.Equal(next.Certificate.Thumbprint, await ShownAsync(server.DataPort));
    }

    [Fact]
    public async Task The_web_port_serves_over_https()
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync();
        using HttpClient web = Web(files, server);
        Assert.Equal(
            "live",
            (
                await web.GetStringAsync(
                    new Uri("/healthz/live", UriKind.Relative),
                    TestContext.Current.CancellationToken
                )
            ).Trim()
        );
    }

    [Fact]
    public async Task The_end_of_the_certificate_is_in_the_metrics_and_told_when_it_is_near()
    {
        using var files = new TlsFiles(a => a.IssueServer(firstDay: -10)); // Until tomorrow.
        await using TestServer server = await files.StartServerAsync();
        using HttpClient web = Web(files, server);
        string metrics = await web.GetStringAsync(
            new Uri("/metrics", UriKind.Relative),
            TestContext.Current.CancellationToken
        );
        using X509Certificate2 certificate = X509CertificateLoader.LoadCertificateFromFile(files.CertificateFile);
        Assert.Contains(
            $"lightq_tls_certificate_end_seconds {new DateTimeOffset(certificate.NotAfter).ToUnixTimeSeconds()}\n",
            metrics,
            StringComparison.Ordinal
        );
        await Eventually.TrueAsync(
            () =>
                server.Log.Lines.Any(l =>
                    l.Level == LogLevel.Warning
                    && l.Message.StartsWith("The certificate CN=broker ends on", StringComparison.Ordinal)
                ),
            TimeSpan.FromSeconds(30),
            () => "it was not told"
        );
    }

    [Fact]
    public async Task What_join_answers_says_that_there_is_TLS()
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync();
        await server.CreateTopicAsync("test");
        using HttpClient web = Web(files, server);
        using var request = new StringContent(
            $$"""{"cmd": "join", "connection_type": "zmq", "type": "pub", "topic": "test", "user_id": "admin", "password": "{{server.AdminPassword}}"}"""
        );
        using HttpResponseMessage answer = await web.PostAsync(
            new Uri("/admin", UriKind.Relative),
            request,
            TestContext.Current.CancellationToken
        );
        using JsonDocument joined = JsonDocument.Parse(
            await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken)
        );
        var options = LightQClientOptions.Parse(joined.RootElement.GetProperty("bind_uri").GetString()!);
        Assert.True(options.Tls);
        await using var client = new LightQClient(options with { CertificateAuthorityFile = files.CaFile });
        await client.ConnectAsync(TestContext.Current.CancellationToken);
    }

    private static HttpClient Web(TlsFiles files, TestServer server)
    {
        var handler = new SocketsHttpHandler
        {
            SslOptions = new()
            {
                CertificateChainPolicy = new()
                {
                    TrustMode = X509ChainTrustMode.CustomRootTrust,
                    RevocationMode = X509RevocationMode.NoCheck,
                },
            },
        };
        handler.SslOptions.CertificateChainPolicy.CustomTrustStore.ImportFromPemFile(files.CaFile);
        return new HttpClient(handler) { BaseAddress = new Uri($"https://localhost:{server.WebPort}") };
    }

    /// <summary>The thumbprint of the certificate that a port shows.</summary>
    internal static async Task<string> ShownAsync(int port)
    {
        using var tcp = new TcpClient();
        await tcp.ConnectAsync("127.0.0.1", port, TestContext.Current.CancellationToken);
        string shown = "";
        using var tls = new SslStream(tcp.GetStream());
        var options = new SslClientAuthenticationOptions
        {
            TargetHost = "localhost",
            RemoteCertificateValidationCallback = (_, certificate, _, _) =>
                (shown = ((X509Certificate2)certificate!).Thumbprint).Length != 0,
        };
        await tls.AuthenticateAsClientAsync(options, TestContext.Current.CancellationToken);
        return shown;
    }
}

using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.Server;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Tls;

/// <summary>
/// S4: each way in which TLS fails is one clear line on both sides, on the data plane and on the control plane.
/// </summary>
[Trait("Fault", "S4")]
public sealed class TlsRefusalTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task A_certificate_of_another_authority_is_refused(ReceiveMode mode)
    {
        using var files = new TlsFiles();
        using var other = new TestAuthority("Someone else");
        string ca = files.Write("other.crt", other.Pem);
        await using TestServer server = await files.StartServerAsync();
        await RefusedAsync(
            files.ClientOptions(server) with
            {
                CertificateAuthorityFile = ca,
                ReceiveMode = mode,
            },
            $"does not come from an authority in '{ca}'; it was issued by CN=Test authority"
        );
        await RefusedAsync(
            files.ClientOptions(server) with
            {
                CertificateAuthorityFile = null,
                ReceiveMode = mode,
            },
            "does not come from an authority that this machine trusts"
        );
    }

    [Fact]
    public async Task A_limit_on_connections_is_no_fault_of_TLS_and_passes()
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync(o =>
            o with
            {
                DataPlane = new() { MaxConnections = 1 },
            }
        );
        var first = new LightQClient(files.ClientOptions(server));
        await first.ConnectAsync(TestContext.Current.CancellationToken);
        await using var refused = new LightQClient(files.ClientOptions(server));
        Assert.Equal(
            ErrorCode.Unavailable,
            (
                await Assert.ThrowsAsync<LightQException>(() =>
                    refused.ConnectAsync(TestContext.Current.CancellationToken)
                )
            ).Code
        );
        await using var waiting = new LightQClient(files.ClientOptions(server) with { WaitForBroker = true });
        Task connecting = waiting.ConnectAsync(TestContext.Current.CancellationToken);
        await Eventually.TrueAsync(
            () => server.Server.Limits.Refusals["DataPlane:MaxConnections"] >= 3,
            Patience,
            () => "it does not try again"
        );

        await first.DisposeAsync();

        await connecting.WaitAsync(Patience, TestContext.Current.CancellationToken);
    }

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task A_connection_that_is_reset_before_the_handshake_may_have_met_a_limit(ReceiveMode mode)
    {
        using var files = new TlsFiles();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var options = new LightQClientOptions
        {
            Host = "127.0.0.1",
            DataPort = ((IPEndPoint)listener.LocalEndpoint).Port,
            Tls = true,
            CertificateAuthorityFile = files.CaFile,
            ReceiveMode = mode,
        };
        await using var client = new LightQClient(options);
        Task connecting = client.ConnectAsync(TestContext.Current.CancellationToken);
        using (Socket accepted = await listener.AcceptSocketAsync(TestContext.Current.CancellationToken))
            accepted.LingerState = new LingerOption(enable: true, seconds: 0);
        LightQException error = await Assert.ThrowsAsync<LightQException>(() =>
            connecting.WaitAsync(Patience, TestContext.Current.CancellationToken)
        );
        Assert.Equal(ErrorCode.Unavailable, error.Code);
        Assert.Contains(
            "closed the connection before the TLS handshake was done: it stops, or has met a limit on connections",
            error.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_certificate_for_another_name_is_refused()
    {
        using var files = new TlsFiles(a => a.IssueServer(["broker.example", "192.0.2.7"]));
        await using TestServer server = await files.StartServerAsync();
        await RefusedAsync(files.ClientOptions(server), "is for broker.example, 192.0.2.7, not for '127.0.0.1'");
    }

    [Fact]
    public async Task A_certificate_that_has_expired_since_the_start_is_refused()
    {
        var time = new ShiftedTime(TimeSpan.FromDays(-2));
        using var files = new TlsFiles(a => a.IssueServer(firstDay: -3, lastDay: -1));
        await using TestServer server = await files.StartServerAsync(o => o with { TimeProvider = time });
        await RefusedAsync(files.ClientOptions(server), "expired on ");
    }

    [Fact]
    public async Task A_certificate_that_is_not_valid_yet_is_refused()
    {
        var time = new ShiftedTime(TimeSpan.FromDays(2));
        using var files = new TlsFiles(a => a.IssueServer(firstDay: 1, lastDay: 3));
        await using TestServer server = await files.StartServerAsync(o => o with { TimeProvider = time });
        await RefusedAsync(files.ClientOptions(server), "is not valid before ");
    }

    [Fact]
    public async Task A_client_that_does_not_speak_TLS_is_told_so()
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync();
        LightQClientOptions plain = files.ClientOptions(server) with { Tls = false, CertificateAuthorityFile = null };
        await using (var client = new LightQClient(plain))
        {
            CancellationToken cancellation = TestContext.Current.CancellationToken;
            LightQException error = await Assert.ThrowsAsync<LightQException>(() => client.ConnectAsync(cancellation));
            Assert.Equal(
                (ErrorCode.TlsFailed, "This port speaks TLS, and the client does not: connect with ?tls=true."),
                (error.Code, error.Message)
            );
            error = await Assert.ThrowsAsync<LightQException>(() => client.Topics.GetAsync("t", cancellation));
            Assert.Equal(ErrorCode.Unavailable, error.Code); // It may as well be some other server.
            Assert.Contains(
                "is TLS on at both ends or at neither (tls=true)?",
                error.Message,
                StringComparison.Ordinal
            );
        }
        await LoggedAsync(server, "spoke in the clear on a port that speaks TLS", 2);
        using HttpResponseMessage web = await server.Web.GetAsync(
            new Uri("/healthz/live", UriKind.Relative),
            TestContext.Current.CancellationToken
        );
        Assert.Equal(400, (int)web.StatusCode);
        Assert.Contains(
            "https",
            await web.Content.ReadAsStringAsync(TestContext.Current.CancellationToken),
            StringComparison.Ordinal
        );
        await LoggedAsync(server, "spoke in the clear on a port that speaks TLS", 3);
    }

    [Fact]
    public async Task A_client_that_speaks_TLS_to_a_plain_broker_is_told_so()
    {
        using var files = new TlsFiles();
        await using TestServer server = await TestServer.StartAsync();
        await RefusedAsync(files.ClientOptions(server), "does not speak TLS");
        await LoggedAsync(server, "speaks TLS, and this port does not", 2);
    }

    [Fact]
    public async Task The_web_port_of_a_broker_with_TLS_is_told_apart_from_its_control_port()
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync();
        LightQClientOptions web = files.ClientOptions(server) with { ControlPort = server.WebPort };
        await using var client = new LightQClient(web);
        LightQException error = await Assert.ThrowsAsync<LightQException>(() =>
            client.Topics.GetAsync("t", TestContext.Current.CancellationToken)
        );
        Assert.Equal(
            (
                ErrorCode.TlsFailed,
                $"What answers at {web} does not speak HTTP/2 as gRPC needs it: is control=PORT the broker's control "
                    + $"port?"
            ),
            (error.Code, error.Message)
        );
    }

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task A_client_without_a_certificate_is_refused_where_one_is_required(ReceiveMode mode)
    {
        using var files = new TlsFiles();
        await using TestServer server = await RequireAsync(files);
        await RefusedAsync(files.ClientOptions(server) with { ReceiveMode = mode }, "requires a client certificate");
        await LoggedAsync(server, "this broker requires a client certificate, and none was shown", 2);
    }

    [Theory]
    [InlineData(false, -1, 1, "is not from an authority that this broker trusts")]
    [InlineData(true, -3, -1, "has expired or is not valid yet")]
    [InlineData(true, 1, 3, "has expired or is not valid yet")]
    public async Task A_client_certificate_that_is_not_valid_is_refused(
        bool ofTheAuthority,
        int firstDay,
        int lastDay,
        string reason
    )
    {
        using var files = new TlsFiles();
        using var other = new TestAuthority("Someone else");
        await using TestServer server = await RequireAsync(files);
        using TestCertificate own = (ofTheAuthority ? files.Authority : other).IssueClient(
            "intruder",
            firstDay: firstDay,
            lastDay: lastDay
        );
        await RefusedAsync(files.ClientOptions(server, own), "client certificate");
        await LoggedAsync(server, $"the client certificate CN=intruder, O=Test {reason}", 2);
    }

    [Fact]
    public async Task A_client_with_a_certificate_is_let_in_on_both_planes()
    {
        using var files = new TlsFiles();
        await using TestServer server = await RequireAsync(files);
        using TestCertificate own = files.Authority.IssueClient("orders");
        await using var client = new LightQClient(files.ClientOptions(server, own));
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Transient },
            TestContext.Current.CancellationToken
        );
        await client.ConnectAsync(TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task Files_of_a_client_that_cannot_be_used_are_named_before_it_connects()
    {
        using var files = new TlsFiles();
        using TestCertificate one = files.Authority.IssueClient("one"),
            other = files.Authority.IssueClient("other");
        string own = files.Write("one.crt", one.Pem),
            key = files.Write("other.key", other.KeyPem),
            secret = files.Write("secret.key", one.EncryptedKeyPem("p")),
            text = files.Write("text", "hello");
        var options = new LightQClientOptions { Tls = true };
        (LightQClientOptions Options, string Words)[] cases =
        [
            (
                options with
                {
                    CertificateAuthorityFile = "/missing/ca.crt",
                },
                "ca: the file '/missing/ca.crt' does not exist."
            ),
            (options with { CertificateAuthorityFile = text }, $"ca: the file '{text}' holds no certificate in PEM."),
            (
                options with
                {
                    ClientCertificateFile = own,
                },
                $"key: the file '{own}' holds no private key in PEM: name the file that does with key=FILE."
            ),
            (
                options with
                {
                    ClientCertificateFile = own,
                    ClientKeyFile = text,
                },
                $"key: the file '{text}' holds no private key in PEM."
            ),
            (
                options with
                {
                    ClientCertificateFile = own,
                    ClientKeyFile = key,
                },
                $"key: the file '{key}' holds a private key that is damaged, or does not go with the certificate in "
                    + $"'{own}'."
            ),
            (
                options with
                {
                    ClientCertificateFile = own,
                    ClientKeyFile = secret,
                },
                $"key: the file '{secret}' holds a private key with a password, which clients do not take: 'openssl "
                    + $"pkey' writes it without."
            ),
            (
                options with
                {
                    ClientCertificateFile = own,
                    ClientKeyFile = "/missing/key",
                },
                "key: the file '/missing/key' cannot be read."
            ),
        ];
        foreach ((LightQClientOptions wrong, string words) in cases)
        {
            LightQException error = Assert.Throws<LightQException>(() => new LightQClient(wrong));
            Assert.Equal((ErrorCode.InvalidArgument, words), (error.Code, error.Message));
        }
        await using TestServer server = await files.StartServerAsync();
        await using var client = new LightQClient(files.ClientOptions(server));
        File.Delete(files.CaFile);
        LightQException later = await Assert.ThrowsAsync<LightQException>(() =>
            client.ConnectAsync(TestContext.Current.CancellationToken)
        );
        Assert.Equal(ErrorCode.InvalidArgument, later.Code);
    }

    [Fact]
    public async Task A_certificate_that_cannot_be_used_ends_the_start()
    {
        using var files = new TlsFiles();
        File.Delete(files.KeyFile);
        ServerStartException error = await Assert.ThrowsAsync<ServerStartException>(() => files.StartServerAsync());
        Assert.Equal((78, $"Tls:KeyFile: '{files.KeyFile}' does not exist."), (error.ExitCode, error.Message));
    }

    private static Task<TestServer> RequireAsync(TlsFiles files) =>
        files.StartServerAsync(o => o with { Tls = files.Options with { ClientCaFile = files.CaFile } });

    /// <summary>Both planes refuse with the code and a single line that has these words.</summary>
    private static async Task RefusedAsync(LightQClientOptions options, string words)
    {
        await using var client = new LightQClient(options);
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        foreach (Task attempt in (Task[])[client.ConnectAsync(cancellation), client.Topics.GetAsync("t", cancellation)])
        {
            LightQException error = await Assert.ThrowsAsync<LightQException>(() =>
                attempt.WaitAsync(Patience, cancellation)
            );
            Assert.Contains(words, error.Message, StringComparison.Ordinal);
            Assert.DoesNotContain('\n', error.Message);
            Assert.Equal(ErrorCode.TlsFailed, error.Code);
            Assert.False(error.IsTransient);
        }
    }

    /// <summary>The server has said it so often, and each time in one line.</summary>
    private static async Task LoggedAsync(TestServer server, string words, int times)
    {
        await Eventually.TrueAsync(
            () => Count() >= times,
            Patience,
            () => $"\"{words}\" {Count()} times in:\n{string.Join('\n', server.Log.Lines.Select(l => l.Message))}"
        );
        Assert.Equal(times, Count());
        Assert.Empty(server.Log.Errors);

        int Count() => server.Log.Lines.Count(l => l.Message.Contains(words, StringComparison.Ordinal));
    }

    /// <summary>A clock that is wrong by so much.</summary>
    private sealed class ShiftedTime(TimeSpan by) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + by;
    }
}

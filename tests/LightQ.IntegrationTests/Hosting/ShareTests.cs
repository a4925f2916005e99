using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Net.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.DataPlane;
using LightQ.IntegrationTests.Security;
using LightQ.IntegrationTests.Tls;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Server;
using Xunit;
using Right = LightQ.Broker.Users.Right;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>
/// One address, or one user, that takes all it can of what all count in together: others are served, and health is
/// answered to everybody.
/// </summary>
public sealed class ShareTests
{
    private static readonly IPAddress Mallory = IPAddress.Loopback,
        Alice = IPAddress.Parse("127.0.0.2");

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_address_that_fills_the_web_port_leaves_a_share_to_others_and_health_to_itself(bool tls)
    {
        using var files = new TlsFiles();
        await using TestServer server = await StartAsync(o => o with { Http = new() { MaxWebConnections = 8 } });
        using Sockets idle = await Sockets.OpenAsync(Mallory, server.WebPort, 200);
        using HttpClient mallory = Web(server, Mallory, tls),
            alice = Web(server, Alice, tls);
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(mallory, "/healthz/live"));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(mallory, "/healthz/ready"));
        Assert.Equal(HttpStatusCode.ServiceUnavailable, await StatusAsync(mallory, "/metrics"));
        Assert.Equal(HttpStatusCode.ServiceUnavailable, await StatusAsync(mallory, "/v1/whoami"));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(alice, "/metrics"));
        Assert.InRange(server.Server.Limits.Refusals["Http:MaxWebConnections"], 196, long.MaxValue);

        Task<TestServer> StartAsync(Func<LightQServerOptions, LightQServerOptions> configure) =>
            tls ? files.StartServerAsync(configure) : TestServer.StartAsync(configure);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_address_that_fills_the_control_port_leaves_a_share_to_others_and_health_to_itself(bool tls)
    {
        using var files = new TlsFiles();
        await using TestServer server = await StartAsync(o => o with { Http = new() { MaxControlConnections = 8 } });
        using Sockets idle = await Sockets.OpenAsync(Mallory, server.ControlPort, 200);
        using GrpcChannel mallory = Control(server, Mallory, tls),
            alice = Control(server, Alice, tls);
        HealthCheckResponse health = await new Health.HealthClient(mallory).CheckAsync(
            new HealthCheckRequest(),
            cancellationToken: Cancel
        );
        Assert.Equal(HealthCheckResponse.Types.ServingStatus.Serving, health.Status);
        RpcException refused = await Assert.ThrowsAsync<RpcException>(() => StatsAsync(mallory));
        Assert.Equal(StatusCode.ResourceExhausted, refused.StatusCode);
        Assert.Contains("Http:MaxControlConnections", refused.Status.Detail, StringComparison.Ordinal);
        await StatsAsync(alice);

        Task<TestServer> StartAsync(Func<LightQServerOptions, LightQServerOptions> configure) =>
            tls ? files.StartServerAsync(configure) : TestServer.StartAsync(configure);
    }

    [Theory]
    [InlineData("MaxConnections")]
    [InlineData("MaxUnauthenticatedConnections")]
    public async Task An_address_that_fills_the_data_port_leaves_a_share_to_others(string limit)
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane =
                    limit == "MaxConnections"
                        ? new() { MaxConnections = 8 }
                        : new() { MaxUnauthenticatedConnections = 8 },
            }
        );
        using Sockets idle = await Sockets.OpenAsync(Mallory, server.DataPort, 20);
        await Eventually.TrueAsync(
            () => server.Server.Limits.Refusals[$"DataPlane:{limit}"] == 16,
            TimeSpan.FromSeconds(30),
            () => $"{server.Server.Limits.Refusals[$"DataPlane:{limit}"]} were refused"
        );
        await using RawClient alice = await RawClient.ConnectAsync(server.DataPort, from: Alice);
        await alice.SendAsync(new PingFrame(1));
        await alice.ReadAsync(FrameType.Pong);
    }

    [Fact]
    public async Task A_user_that_opens_connections_from_everywhere_leaves_a_share_to_other_users()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = new() { MaxConnections = 8 },
            }
        );
        string mallory = TokenOf(server, "mallory"),
            alice = TokenOf(server, "alice");
        var open = new List<RawClient>();
        for (byte i = 1; i <= 4; i++)
            open.Add(await ConnectAsync(mallory, i));
        await using RawClient fifth = await RawClient.ConnectAsync(
            server.DataPort,
            greet: false,
            from: IPAddress.Parse("127.0.0.5")
        );
        await fifth.SendAsync(new HelloFrame(1, 1, 0, "raw", HelloFrame.Token, mallory));
        ErrorFrame refused = FrameCodec.Read<ErrorFrame>(await fifth.ReadAsync(FrameType.Error));
        Assert.Equal(Client.ErrorCode.ResourceExhausted, refused.Code);
        Assert.Contains("user:mallory is refused: it has its share", refused.Message, StringComparison.Ordinal);
        open.Add(await ConnectAsync(alice, 6));
        await open[0].DisposeAsync();
        await Eventually.TrueAsync(
            () => server.Server.ConnectionCount <= 4,
            TimeSpan.FromSeconds(30),
            () => $"{server.Server.ConnectionCount} connections"
        );
        open.Add(await ConnectAsync(mallory, 7));
        foreach (RawClient client in open)
            await client.DisposeAsync();

        async Task<RawClient> ConnectAsync(string token, byte address)
        {
            RawClient client = await RawClient.ConnectAsync(
                server.DataPort,
                greet: false,
                from: new IPAddress([127, 0, 0, address])
            );
            await client.SendAsync(new HelloFrame(1, 1, 0, "raw", HelloFrame.Token, token));
            await client.ReadAsync(FrameType.Welcome);
            return client;
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Calls_of_one_address_or_one_user_leave_a_share_to_others(bool byUser)
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { Http = new() { MaxCalls = 8 } });
        string mallory = TokenOf(server, "mallory"),
            alice = TokenOf(server, "alice");
        var watches = new List<AsyncServerStreamingCall<WatchBrokerStatsResponse>>();
        for (byte i = 1; i <= 4; i++)
        {
            GrpcChannel channel = Control(server, byUser ? new IPAddress([127, 0, 0, i]) : Mallory, tls: false);
            AsyncServerStreamingCall<WatchBrokerStatsResponse> watch = new Stats.StatsClient(channel).WatchBrokerStats(
                new(),
                Shown(
                    byUser ? mallory
                    : i % 2 == 0 ? mallory
                    : alice
                ),
                cancellationToken: Cancel
            );
            Assert.True(await watch.ResponseStream.MoveNext(Cancel));
            watches.Add(watch);
        }
        using GrpcChannel more = Control(server, byUser ? Alice : Mallory, tls: false),
            others = Control(server, IPAddress.Parse("127.0.0.9"), tls: false);
        RpcException refused = await Assert.ThrowsAsync<RpcException>(() => StatsAsync(more, mallory));
        Assert.Equal(StatusCode.ResourceExhausted, refused.StatusCode);
        Assert.Contains("has its share of the calls", refused.Status.Detail, StringComparison.Ordinal);
        await StatsAsync(others, alice);
        foreach (AsyncServerStreamingCall<WatchBrokerStatsResponse> watch in watches)
            watch.Dispose();
        await Eventually.TrueAsync(
            async () => await Record.ExceptionAsync(() => StatsAsync(more, mallory)) is null,
            TimeSpan.FromSeconds(30),
            () => "calls that have ended count still"
        );
    }

    [Fact]
    public async Task A_user_that_makes_many_topics_and_partitions_leaves_some_to_others()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Broker = new() { MaxTopics = 32, MaxPartitions = 100 },
            }
        );
        string mallory = Caller.Create(server, "mallory", (Right.Manage, "*")).Token!,
            alice = Caller.Create(server, "alice", (Right.Manage, "*")).Token!;
        async Task<string> CreateAsync(string token, string name, uint partitions = 1)
        {
            try
            {
                await server.Control.CallAsync<CreateTopicRequest, CreateTopicResponse>(
                    "CreateTopic",
                    new CreateTopicRequest
                    {
                        Name = name,
                        Settings = new() { Partitions = partitions },
                    },
                    token
                );
                return "";
            }
            catch (RpcException e) when (e.StatusCode == StatusCode.ResourceExhausted)
            {
                return e.Status.Detail;
            }
        }
        for (int i = 0; i < 16; i++)
            Assert.Equal("", await CreateAsync(mallory, $"m{i}"));
        Assert.Contains("Broker:MaxTopics", await CreateAsync(mallory, "m16"), StringComparison.Ordinal);
        Assert.Equal("", await CreateAsync(alice, "a"));
        await server.RestartAsync();
        Assert.Contains("Broker:MaxTopics", await CreateAsync(mallory, "m16"), StringComparison.Ordinal);
        Assert.Contains("Broker:MaxPartitions", await CreateAsync(alice, "b", 80), StringComparison.Ordinal);
        Assert.Equal("", await CreateAsync(alice, "b", 30));
    }

    [Fact]
    public async Task A_user_that_fetches_from_many_groups_leaves_members_to_others()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { Http = new() { MaxFetchers = 4 } });
        await server.CreateTopicAsync("orders", LightQ.Broker.Topics.TopicKind.Durable);
        string mallory = TokenOf(server, "mallory"),
            alice = TokenOf(server, "alice");
        await FetchAsync(mallory, "a");
        await FetchAsync(mallory, "b");
        RpcException refused = await Assert.ThrowsAsync<RpcException>(() => FetchAsync(mallory, "c"));
        Assert.Contains("user:mallory has its share", refused.Status.Detail, StringComparison.Ordinal);
        await FetchAsync(alice, "d");

        async Task FetchAsync(string token, string group) =>
            await new Protocol.Control.Messages.MessagesClient(server.Control).FetchAsync(
                new FetchRequest { Topic = "orders", Group = group },
                Shown(token),
                cancellationToken: Cancel
            );
    }

    private static string TokenOf(TestServer server, string user) =>
        Caller.Create(server, user, (Right.Consume, "*")).Token!;

    private static Metadata Shown(string? token) =>
        token is null ? [] : new() { { "authorization", $"Bearer {token}" } };

    private static async Task StatsAsync(GrpcChannel channel, string? token = null) =>
        await new Stats.StatsClient(channel).GetBrokerStatsAsync(new(), Shown(token), cancellationToken: Cancel);

    private static async Task<HttpStatusCode> StatusAsync(HttpClient client, string path)
    {
        using HttpResponseMessage response = await client.GetAsync(path, Cancel);
        return response.StatusCode;
    }

    private static HttpClient Web(TestServer server, IPAddress from, bool tls) =>
        new(Handler(from)) { BaseAddress = new Uri($"{(tls ? "https" : "http")}://127.0.0.1:{server.WebPort}") };

    private static GrpcChannel Control(TestServer server, IPAddress from, bool tls) =>
        GrpcChannel.ForAddress(
            $"{(tls ? "https" : "http")}://127.0.0.1:{server.ControlPort}",
            new GrpcChannelOptions { HttpHandler = Handler(from), DisposeHttpClient = true }
        );

    private static SocketsHttpHandler Handler(IPAddress from) =>
        new()
        {
            ConnectCallback = async (context, cancel) =>
                new NetworkStream(await Sockets.ConnectAsync(from, context.DnsEndPoint.Port, cancel), ownsSocket: true),
            SslOptions = new SslClientAuthenticationOptions
            {
                EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13,
                RemoteCertificateValidationCallback = (_, shown, _, _) => shown is not null,
            },
        };

    /// <summary>Connections that say nothing.</summary>
    private sealed class Sockets : IDisposable
    {
        private readonly List<Socket> _open = [];

        public static async Task<Sockets> OpenAsync(IPAddress from, int port, int count)
        {
            var sockets = new Sockets();
            for (int i = 0; i < count; i++)
                sockets._open.Add(await ConnectAsync(from, port, Cancel));
            return sockets;
        }

        public static async Task<Socket> ConnectAsync(IPAddress from, int port, CancellationToken cancel)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Bind(new IPEndPoint(from, 0));
            await socket.ConnectAsync(IPAddress.Loopback, port, cancel);
            return socket;
        }

        public void Dispose() => _open.ForEach(s => s.Dispose());
    }
}

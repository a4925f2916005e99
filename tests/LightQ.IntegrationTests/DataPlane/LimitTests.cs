using System.Net;
using System.Net.Sockets;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Tls;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;
using Topic = LightQ.Broker.Topics.Topic;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.IntegrationTests.DataPlane;

/// <summary>Who meets a limit is told which, it is counted under that name, and everything else goes on.</summary>
public sealed class LimitTests
{
    private static readonly HttpClient Http = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("MaxConnections")]
    [InlineData("MaxConnectionsPerAddress")]
    public async Task A_connection_too_many_is_told_so_and_another_may_come_when_one_has_left(string limit)
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane =
                    limit == "MaxConnections" ? new() { MaxConnections = 2 } : new() { MaxConnectionsPerAddress = 2 },
                Broker = new() { MaxSharePercent = 100 },
            }
        );
        await using RawClient first = await RawClient.ConnectAsync(server.DataPort);
        await using RawClient second = await RawClient.ConnectAsync(server.DataPort);

        await using (RawClient third = await RawClient.ConnectAsync(server.DataPort, greet: false))
            await RefusedAsync(third, ErrorCode.ResourceExhausted, $"DataPlane:{limit}", 2);
        if (limit == "MaxConnectionsPerAddress")
        {
            using Socket other = await ConnectFromAsync(IPAddress.Parse("127.0.0.2"), server.DataPort);
            Assert.Equal(FrameType.Welcome, await GreetAsync(other));
        }
        await first.DisposeAsync();
        await Eventually.TrueAsync(
            () => server.Server.ConnectionCount <= 1,
            TimeSpan.FromSeconds(30),
            () => $"{server.Server.ConnectionCount} connections"
        );

        await using RawClient fourth = await RawClient.ConnectAsync(server.DataPort);
        await fourth.SendAsync(new PingFrame(1));
        Assert.Equal(1ul, FrameCodec.Read<PongFrame>(await fourth.ReadAsync(FrameType.Pong)).Payload);
        Assert.Equal(1, server.Server.Limits.Refusals[$"DataPlane:{limit}"]);
        Assert.Contains(
            $"lightq_limit_refusals_total{{limit=\"DataPlane:{limit}\"}} 1\n",
            await server.Web.GetStringAsync("/metrics", Cancel),
            StringComparison.Ordinal
        );
        GetBrokerStatsResponse stats = await server.Control.CallAsync<GetBrokerStatsRequest, GetBrokerStatsResponse>(
            "GetBrokerStats",
            new()
        );
        Assert.Equal(KeyValuePair.Create($"DataPlane:{limit}", 1ul), Assert.Single(stats.LimitRefusals));
        Assert.Single(
            server.Log.Lines,
            l => l.Message.Contains($"The limit DataPlane:{limit} was met", StringComparison.Ordinal)
        );
    }

    [Fact]
    public async Task Connections_that_say_nothing_leave_no_place_for_more_of_them_until_they_do_and_changing_the_limit_counts_at_once()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = new() { MaxUnauthenticatedConnections = 1 },
            }
        );
        await using RawClient welcomed = await RawClient.ConnectAsync(server.DataPort);
        await using RawClient silent = await RawClient.ConnectAsync(server.DataPort, greet: false);
        await server.ConnectionsAsync(2);

        await using (RawClient refused = await RawClient.ConnectAsync(server.DataPort, greet: false))
            await RefusedAsync(refused, ErrorCode.ResourceExhausted, "DataPlane:MaxUnauthenticatedConnections", 1);
        await silent.SendAsync(new HelloFrame(1, 1, 0, "raw", HelloFrame.Anonymous, ""));
        await silent.ReadAsync(FrameType.Welcome);
        await using RawClient next = await RawClient.ConnectAsync(server.DataPort, greet: false);
        await server.ConnectionsAsync(3);
        server.Server.Limits.Options = server.Server.Limits.Options with
        {
            DataPlane = new() { MaxUnauthenticatedConnections = 4 },
        };

        await using RawClient last = await RawClient.ConnectAsync(server.DataPort);
        Assert.Equal(1, server.Server.Limits.Refusals["DataPlane:MaxUnauthenticatedConnections"]);
    }

    [Fact]
    public async Task An_SDK_client_that_is_turned_away_is_told_which_limit_and_comes_back()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = new() { MaxConnections = 1 },
            }
        );
        await using RawClient only = await RawClient.ConnectAsync(server.DataPort);
        await using var client = new LightQClient(
            new LightQClientOptions
            {
                DataPort = server.DataPort,
                ControlPort = server.ControlPort,
                ConnectTimeout = TimeSpan.FromSeconds(2),
            }
        );

        LightQException refused = await Assert.ThrowsAsync<LightQException>(() => client.PingAsync(Cancel));
        Assert.True(refused.IsTransient, refused.ToString());
        Assert.Contains("the limit (DataPlane:MaxConnections) is 1", refused.ToString(), StringComparison.Ordinal);
        await only.DisposeAsync();

        await Eventually.TrueAsync(
            async () => await Record.ExceptionAsync(() => client.PingAsync(Cancel)) is null,
            TimeSpan.FromSeconds(30),
            () => "the client is still turned away"
        );
    }

    [Fact]
    public async Task A_stream_a_frame_and_a_window_too_large_name_their_limits()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = new() { MaxStreams = 1, MaxFrameBytes = 4 << 20 },
                Broker = new() { PublishWindowBytes = 64 * 1024 },
            }
        );
        await server.CreateTopicAsync("t");
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await client.OpenProducerAsync("t", 1);
        await client.SendAsync(new OpenProducerFrame("t", 0, Durability.Default, ""), 2, 2);
        AssertNames("DataPlane:MaxStreams", 1, FrameCodec.Read<ClosedFrame>(await ClosedAsync(client)).Message);

        byte[] header = new byte[FrameHeader.Size];
        new FrameHeader((4 << 20) + 1, FrameType.Publish, 0, 1, 0).Write(header);
        await client.SendAsync(header);
        await RefusedAsync(client, ErrorCode.FrameTooLarge, "DataPlane:MaxFrameBytes", 4 << 20);

        await using RawClient hasty = await RawClient.ConnectAsync(server.DataPort);
        await Task.Run(
            () =>
                server.Broker.CreateTopic("full", new TopicSettings { MaxMessageBytes = 1024, RingBytes = 512 * 1024 }),
            Cancel
        );
        await using RawClient reader = await RawClient.ConnectAsync(server.DataPort);
        await reader.SubscribeAsync("full", 1, credit: 0);
        await hasty.OpenProducerAsync("full", 1);
        for (ulong i = 0; i < 14; i++)
            await hasty.SendAsync(RawClient.PublishFrame(1, RawClient.Batch(i * 50, 1_000, records: 50)));
        await RefusedAsync(hasty, ErrorCode.WindowExceeded, "Broker:PublishWindowBytes", 64 * 1024);
    }

    [Fact]
    public async Task Long_frames_that_arrive_at_once_share_an_amount_of_memory()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = new() { MaxAssemblyBytes = 2_500_000 },
                Broker = new() { MaxSharePercent = 100 },
            }
        );
        byte[] header = new byte[FrameHeader.Size + 1];
        new FrameHeader(1_000_000, FrameType.Publish, 0, 1, 0).Write(header);
        await using RawClient first = await RawClient.ConnectAsync(server.DataPort);
        await using RawClient second = await RawClient.ConnectAsync(server.DataPort);
        await using RawClient third = await RawClient.ConnectAsync(server.DataPort);
        await first.SendAsync(header);
        await second.SendAsync(header);
        await Eventually.TrueAsync(
            () => server.Server.Limits.Bodies.Taken == 2_000_000,
            TimeSpan.FromSeconds(30),
            () => $"{server.Server.Limits.Bodies.Taken} bytes are set aside"
        );
        await third.SendAsync(header);
        await RefusedAsync(third, ErrorCode.ResourceExhausted, "DataPlane:MaxAssemblyBytes", 2_500_000);

        await CompleteAsync(first);
        await Eventually.TrueAsync( // The Pong may be sent before the room is given back.
            () => server.Server.Limits.Bodies.Taken == 1_000_000,
            TimeSpan.FromSeconds(30),
            () => $"{server.Server.Limits.Bodies.Taken} bytes are set aside"
        );
        await using RawClient fourth = await RawClient.ConnectAsync(server.DataPort);
        await fourth.SendAsync(header);
        await CompleteAsync(fourth);
        await CompleteAsync(second);
        await Eventually.TrueAsync(
            () => server.Server.Limits.Bodies.Taken == 0,
            TimeSpan.FromSeconds(30),
            () => $"{server.Server.Limits.Bodies.Taken} bytes are set aside still"
        );
        Assert.Equal(1, server.Server.Limits.Refusals["DataPlane:MaxAssemblyBytes"]);

        async Task CompleteAsync(RawClient client)
        {
            // Whole now, to a stream that is not open: dropped.
            await client.SendAsync(new byte[1_000_000 - header.Length]);
            await client.SendAsync(new PingFrame(1));
            Assert.Equal(
                ErrorCode.InvalidStream,
                FrameCodec.Read<ClosedFrame>(await client.ReadAsync(FrameType.Closed)).Code
            );
            await client.ReadAsync(FrameType.Pong);
        }
    }

    [Fact]
    public async Task What_waits_for_room_in_full_topics_has_a_limit_and_only_the_stream_that_meets_it_ends()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Broker = new() { MaxPendingBytes = 100_000 },
            }
        );
        Topic topic = await Task.Run(
            () => server.Broker.CreateTopic("t", new TopicSettings { MaxMessageBytes = 1024, RingBytes = 512 * 1024 }),
            Cancel
        );
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await client.SubscribeAsync("t", 9, credit: 0);
        await client.OpenProducerAsync("t", 1);
        for (ulong i = 0; i < 12; i++)
            await client.SendAsync(RawClient.PublishFrame(1, RawClient.Batch(i * 50, 1_000, records: 50)));

        AssertNames("Broker:MaxPendingBytes", 100_000, FrameCodec.Read<ClosedFrame>(await ClosedAsync(client)).Message);
        await Eventually.TrueAsync(
            () => server.Broker.PendingBytes == 0,
            TimeSpan.FromSeconds(30),
            () => $"{server.Broker.PendingBytes} bytes still wait"
        );
        await client.SendAsync(new PingFrame(1));
        await client.ReadAsync(FrameType.Pong);
        Assert.InRange(topic.Partitions[0].Log.EndOffset, 1, 600);
    }

    [Fact]
    public async Task Topics_partitions_groups_producers_users_rights_and_tokens_have_limits_with_names()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Broker = new()
                {
                    MaxTopics = 2,
                    MaxPartitions = 5,
                    MaxGroupsPerTopic = 1,
                    MaxNamedProducersPerTopic = 1,
                    MaxUsers = 1,
                    MaxGrantsPerUser = 1,
                    MaxTokensPerUser = 1,
                },
            }
        );
        LightQBroker broker = server.Broker;
        await server.CreateTopicAsync("a", TopicKind.Durable);
        Refused(
            "Broker:MaxPartitions",
            5,
            "There are 1 partitions, and the new topic would have 5 more",
            () => broker.CreateTopic("b", new TopicSettings { Partitions = 5 })
        );
        await server.CreateTopicAsync("b");
        Refused("Broker:MaxTopics", 2, "There are 2 topics", () => broker.CreateTopic("c", new TopicSettings()));

        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await client.SendAsync(
            new SubscribeFrame(
                "a",
                0,
                "g",
                StartKind.Earliest,
                0,
                -1,
                0,
                0,
                SettleMode.Explicit,
                SlowPolicy.TopicDefault,
                0
            ),
            1,
            1
        );
        await client.ReadAsync(FrameType.Subscribed);
        await client.SendAsync(
            new SubscribeFrame(
                "a",
                0,
                "h",
                StartKind.Earliest,
                0,
                -1,
                0,
                0,
                SettleMode.Explicit,
                SlowPolicy.TopicDefault,
                0
            ),
            2,
            2
        );
        AssertNames("Broker:MaxGroupsPerTopic", 1, FrameCodec.Read<ClosedFrame>(await ClosedAsync(client)).Message);
        await client.SendAsync(
            new SubscribeFrame(
                "a",
                0,
                "g",
                StartKind.Earliest,
                0,
                -1,
                0,
                0,
                SettleMode.Explicit,
                SlowPolicy.TopicDefault,
                0
            ),
            3,
            3
        );
        await client.ReadAsync(FrameType.Subscribed);
        await client.SendAsync(new OpenProducerFrame("a", 0, Durability.Default, "one"), 4, 4);
        await client.ReadAsync(FrameType.ProducerOpened);
        await client.SendAsync(new OpenProducerFrame("a", 0, Durability.Default, "two"), 5, 5);
        AssertNames(
            "Broker:MaxNamedProducersPerTopic",
            1,
            FrameCodec.Read<ClosedFrame>(await ClosedAsync(client)).Message
        );

        broker.Users.Create("alice", "");
        Refused(
            "Broker:MaxUsers",
            1,
            "There can be no more users until one is deleted",
            () => broker.Users.Create("bob", "")
        );
        broker.Users.Grant("alice", new Broker.Users.Grant(Broker.Users.Right.Publish, "a"));
        Refused(
            "Broker:MaxGrantsPerUser",
            1,
            "The user 'alice' can have no more rights until one is removed, and one on a prefix such as orders.* "
                + "stands for many",
            () => broker.Users.Grant("alice", new Broker.Users.Grant(Broker.Users.Right.Consume, "a"))
        );
        broker.Users.AddToken("alice", "hash", null, "");
        Refused(
            "Broker:MaxTokensPerUser",
            1,
            "The user 'alice' can have no more tokens until one is revoked or ends",
            () => broker.Users.AddToken("alice", "other", null, "")
        );

        void Refused(string limit, int value, string found, Action act)
        {
            BrokerException error = Assert.Throws<BrokerException>(act);
            Assert.Equal(ErrorCode.ResourceExhausted, error.Code);
            Assert.Equal($"{found}; the limit ({limit}) is {value}.", error.Message);
            Assert.Equal(1, server.Server.Limits.Refusals[limit]);
        }
    }

    [Fact]
    public async Task Connections_to_the_HTTP_ports_have_limits_and_who_meets_one_reads_which()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Http = new() { MaxControlConnections = 1, MaxWebConnections = 1 },
            }
        );
        using var web = new TcpClient();
        await web.ConnectAsync(IPAddress.Loopback, server.WebPort, Cancel);
        await Eventually.TrueAsync(
            async () =>
                await Record.ExceptionAsync(() =>
                    Http.GetStringAsync($"http://127.0.0.1:{server.WebPort}/metrics", Cancel)
                )
                    is HttpRequestException { StatusCode: HttpStatusCode.ServiceUnavailable },
            TimeSpan.FromSeconds(30),
            () => "a second connection is served"
        );
        using HttpResponseMessage full = await Http.GetAsync($"http://127.0.0.1:{server.WebPort}/v1/topics", Cancel);
        AssertNames("Http:MaxWebConnections", 1, await full.Content.ReadAsStringAsync(Cancel));
        using var control = new TcpClient();
        await control.ConnectAsync(IPAddress.Loopback, server.ControlPort, Cancel);
        await Task.Delay(100, Cancel);

        RpcException refused = await Assert.ThrowsAsync<RpcException>(() =>
            server.Control.CallAsync<GetBrokerStatsRequest, GetBrokerStatsResponse>("GetBrokerStats", new())
        );
        Assert.Equal(StatusCode.ResourceExhausted, refused.StatusCode);
        AssertNames("Http:MaxControlConnections", 1, refused.Status.Detail);
        web.Dispose();
        await Eventually.TrueAsync(
            async () =>
                await Record.ExceptionAsync(() =>
                    Http.GetStringAsync($"http://127.0.0.1:{server.WebPort}/metrics", Cancel)
                )
                    is null,
            TimeSpan.FromSeconds(30),
            () => "nobody is served any more"
        );
        Assert.InRange(server.Server.Limits.Refusals["Http:MaxWebConnections"], 1, long.MaxValue);
    }

    [Fact]
    public async Task Calls_and_bodies_have_limits_with_names()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Http = new()
                {
                    MaxCalls = 1,
                    MaxRequestBytes = 1024,
                    MaxMessageBytes = 64 * 1024,
                },
            }
        );
        await server.CreateTopicAsync("t");
        RpcException large = await Assert.ThrowsAsync<RpcException>(() =>
            server.Control.CallAsync<PublishRequest, PublishResponse>(
                "Publish",
                new()
                {
                    Topic = "t",
                    Messages =
                    {
                        new PublishedMessage { Body = Google.Protobuf.ByteString.CopyFrom(new byte[100_000]) },
                    },
                }
            )
        );
        Assert.Equal(StatusCode.ResourceExhausted, large.StatusCode);
        AssertNames("Http:MaxMessageBytes", 64 * 1024, large.Status.Detail);
        using HttpResponseMessage body = await server.Web.PostAsync(
            "/admin",
            new StringContent(new string(' ', 2000)),
            Cancel
        );
        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, body.StatusCode);
        AssertNames("Http:MaxRequestBytes", 1024, await body.Content.ReadAsStringAsync(Cancel));
        await using var client = new LightQClient(server.ConnectionString);
        await using IAsyncEnumerator<LightQ.Client.Administration.TopicStats> watch = client
            .Stats.WatchAsync("t", cancellationToken: Cancel)
            .GetAsyncEnumerator(Cancel);
        Assert.True(await watch.MoveNextAsync());

        RpcException many = await Assert.ThrowsAsync<RpcException>(() =>
            server.Control.CallAsync<GetBrokerStatsRequest, GetBrokerStatsResponse>("GetBrokerStats", new())
        );
        Assert.Equal(StatusCode.ResourceExhausted, many.StatusCode);
        AssertNames("Http:MaxCalls", 1, many.Status.Detail);
    }

    [Fact]
    public async Task On_the_data_port_a_connection_too_many_is_closed_before_any_handshake_of_TLS()
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync(o =>
            o with
            {
                DataPlane = new() { MaxConnections = 1 },
            }
        );
        using var first = new TcpClient();
        await first.ConnectAsync(IPAddress.Loopback, server.DataPort, Cancel);
        await server.ConnectionsAsync(1);
        using var second = new TcpClient();
        Exception? error = await Record.ExceptionAsync(async () =>
        {
            await second.ConnectAsync(IPAddress.Loopback, server.DataPort, Cancel); // The end may overtake even this.
            Assert.Equal(0, await second.GetStream().ReadAsync(new byte[1], Cancel));
        });
        Assert.True(error is null or IOException or SocketException, $"{error}");
        Assert.Equal(1, server.Server.Limits.Refusals["DataPlane:MaxConnections"]);
    }

    [Fact]
    public async Task Names_of_producers_that_were_forgotten_make_room_for_others()
    {
        var time = new ManualTime();
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                TimeProvider = time,
                Broker = new() { MaxNamedProducersPerTopic = 2, ProducerExpiry = TimeSpan.FromMinutes(1) },
            }
        );
        await server.CreateTopicAsync("t", TopicKind.Durable);
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        uint stream = 0;
        foreach (string name in (string[])["one", "two"])
        {
            await client.SendAsync(new OpenProducerFrame("t", 0, Durability.Default, name), ++stream, stream);
            await client.ReadAsync(FrameType.ProducerOpened);
        }
        await client.SendAsync(new OpenProducerFrame("t", 0, Durability.Default, "three"), ++stream, stream);
        AssertNames(
            "Broker:MaxNamedProducersPerTopic",
            2,
            FrameCodec.Read<ClosedFrame>(await ClosedAsync(client)).Message
        );
        await client.SendAsync(new CloseFrame(ErrorCode.None, ""), 2);
        await ClosedAsync(client);
        FrameType answer = default;
        for (int minute = 0; minute < 100 && answer != FrameType.ProducerOpened; minute++)
        {
            // The partition forgets when it is looked after, which is not this thread's.
            time.Advance(TimeSpan.FromMinutes(1));
            await using RawClient next = await RawClient.ConnectAsync(server.DataPort);
            await next.SendAsync(new OpenProducerFrame("t", 0, Durability.Default, "three"), 1, 1);
            answer = (await next.ReadAsync()).Header.Type;
        }
        Assert.Equal(FrameType.ProducerOpened, answer);
    }

    private static void AssertNames(string limit, int value, string message) =>
        Assert.Contains(
            FormattableString.Invariant($"the limit ({limit}) is {value}."),
            message,
            StringComparison.Ordinal
        );

    private static async Task RefusedAsync(RawClient client, ErrorCode code, string limit, int value)
    {
        while (true)
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync();
            Assert.NotEqual(default, header.Type);
            if (header.Type != FrameType.Error)
                continue;
            ErrorFrame error = FrameCodec.Read<ErrorFrame>(body);
            Assert.Equal(code, error.Code);
            AssertNames(limit, value, error.Message);
            return;
        }
    }

    private static async Task<byte[]> ClosedAsync(RawClient client)
    {
        while (true)
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync();
            Assert.NotEqual(default, header.Type);
            if (header.Type == FrameType.Closed)
                return body;
        }
    }

    private static async Task<Socket> ConnectFromAsync(IPAddress source, int port)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(source, 0));
        await socket.ConnectAsync(IPAddress.Loopback, port, Cancel);
        return socket;
    }

    private static async Task<FrameType> GreetAsync(Socket socket)
    {
        var hello = new HelloFrame(1, 1, 0, "raw", HelloFrame.Anonymous, "");
        byte[] frame = new byte[FrameHeader.Size + hello.MaxSize];
        await socket.SendAsync(frame.AsMemory(0, FrameCodec.Write(frame, hello, 0, 0)), Cancel);
        byte[] header = new byte[FrameHeader.Size];
        await socket.ReceiveAsync(header, Cancel);
        FrameHeader.TryRead(header, int.MaxValue, out FrameHeader read);
        return read.Type;
    }
}

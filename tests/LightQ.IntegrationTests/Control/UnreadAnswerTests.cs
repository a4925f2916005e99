using System.Net;
using System.Net.Sockets;
using System.Text;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using LightQ.IntegrationTests.DataPlane;
using LightQ.IntegrationTests.Grpc;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Server.Web;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Control;

/// <summary>
/// What the broker has written and nobody reads is counted, and ends in time, as the table "Answers that are not read"
/// of docs/operate/limits.md says.
/// </summary>
public sealed class UnreadAnswerTests
{
    private const string Topic = "orders",
        Service = "/lightq.control.v1.",
        Memory = "DataPlane:MaxAssemblyBytes",
        Calls = "Http:MaxCalls";

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>Requests over HTTP/1.1, again and again on one connection, and streams of answers.</summary>
    private static string[] Pages =>
        [
            .. Enumerable
                .Concat(
                    ["/healthz/live", "/metrics", "/openapi/v1.json", "/v1/topics", "/v1/stats", "/", "/none"],
                    DashboardPages.AreInThisBuild ? ["/_framework/dotnet.js"] : Array.Empty<string>()
                )
                .Select(page =>
                    string.Concat(Enumerable.Repeat($"GET {page} HTTP/1.1\r\nHost: localhost\r\n\r\n", 100))
                ),
            .. OperatingSystem.IsLinux()
                ?
                [
                    $"GET /v1/topics/{Topic}/stats:watch?interval=0.1s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    WebCall("Stats/WatchTopicStats", RequestOf("Stats/WatchTopicStats")),
                ]
                : Array.Empty<string>(),
        ];

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Every_connection_to_the_web_port_whose_answers_nobody_reads_is_ended_in_time()
    {
        FaultRun.RequireTier("The system waits five seconds at least.");
        await using TestServer server = await StartAsync();
        await Task.WhenAll(Pages.Select(page => EndsAsync(server, Encoding.Latin1.GetBytes(page))));
        await NothingIsCountedAsync(server);
    }

    [Fact]
    public async Task A_subscriber_and_a_client_that_asks_are_ended_in_time_when_they_do_not_read()
    {
        await using TestServer server = await StartAsync();
        await using RawClient deaf = await RawClient.ConnectAsync(server.DataPort, receiveBuffer: 4096);
        await deaf.SubscribeAsync(Topic, 1, uint.MaxValue);
        await using RawClient asking = await RawClient.ConnectAsync(server.DataPort, receiveBuffer: 4096);
        byte[] ping = new byte[FrameHeader.Size + default(PingFrame).MaxSize];
        int length = FrameCodec.Write(ping, new PingFrame(1, 0), 0, 0);
        byte[] pings = [.. Enumerable.Repeat(ping[..length], 1000).SelectMany(p => p)];
        try
        {
            while (server.Server.ConnectionCount != 0)
                await asking.SendAsync(pings);
        }
        catch (IOException)
        {
            // It is cut.
        }
        await server.ConnectionsAsync(0);
        await NothingIsCountedAsync(server);
    }

    [Fact]
    public async Task Answers_that_nobody_reads_have_no_more_memory_than_their_share()
    {
        await using TestServer server = await StartAsync(memory: 1_000_000, stalled: TimeSpan.FromMinutes(1));
        await using Http2Peer peer = await Http2Peer.ConnectAsync(server.ControlPort, window: 0);
        for (int i = 0; i < 10; i++)
            await peer.CallAsync(Service + "Messages/Browse", isLast: true, RequestOf("Messages/Browse"));
        int ended = 0;
        while (await peer.ReadAsync() is { } frame && ended < 5)
        {
            Assert.InRange(server.Server.Limits.Bodies.Taken, 0, 1_000_000);
            ended += frame.Type == Http2FrameType.Reset ? 1 : 0;
        }
        Assert.True(server.Server.Limits.Refusals[Memory] >= 5, "They ended for another reason.");
        await peer.DisposeAsync();
        await NothingIsCountedAsync(server);
    }

    [Fact]
    public async Task A_thousand_calls_whose_answers_have_no_window_are_under_way_and_leave_others_their_share()
    {
        await using TestServer server = await StartAsync(stalled: TimeSpan.FromMinutes(5), calls: 100);
        var peers = new List<Http2Peer>();
        for (int i = 0; i < 10; i++)
        {
            peers.Add(await Http2Peer.ConnectAsync(server.ControlPort, window: 0));
            await peers[i].CallAsync(Service + "Stats/GetBrokerStats", 100, new GetBrokerStatsRequest());
        }
        await Eventually.TrueAsync(
            () => server.Server.Limits.Refusals[Calls] == 950,
            Patience,
            () => $"{server.Server.Limits.Refusals[Calls]} calls of 1,000 were refused, with a share of 50"
        );
        await using Http2Peer other = await Http2Peer.ConnectAsync(
            server.ControlPort,
            from: IPAddress.Parse("127.0.0.2")
        );
        Assert.True(await IsAnsweredAsync(other));
        await using Http2Peer same = await Http2Peer.ConnectAsync(server.ControlPort);
        Assert.False(await IsAnsweredAsync(same));
        for (int stream = 1; stream < 100; stream += 2)
            await peers[0].ResetAsync(stream); // Those that came first are among the fifty.
        await Eventually.TrueAsync(() => IsAnsweredAsync(same), Patience, () => "what was reset counts still");
        foreach (Http2Peer peer in peers)
            await peer.DisposeAsync();
        await Eventually.TrueAsync(() => IsAnsweredAsync(same, 40), Patience, () => "what has gone counts still");
        await NothingIsCountedAsync(server);
    }

    [Fact]
    public async Task Answers_that_have_no_window_are_reset_in_time_and_count_until_then()
    {
        await using TestServer server = await StartAsync(calls: 60);
        await using Http2Peer peer = await Http2Peer.ConnectAsync(server.ControlPort, window: 0);
        await peer.CallAsync(Service + "Stats/GetBrokerStats", 20, new GetBrokerStatsRequest());
        await peer.CallAsync(Service + "Messages/Browse", 8, RequestOf("Messages/Browse"));
        await peer.CallAsync(Service + "Stats/WatchTopicStats", 2, RequestOf("Stats/WatchTopicStats"));
        var reset = new HashSet<int>();
        while (reset.Count < 30 && await peer.ReadAsync() is { } frame)
        {
            if (frame.Type == Http2FrameType.Reset)
                reset.Add(frame.Stream);
            else
                Assert.False(frame.IsLast, "An answer has ended that nobody has taken.");
        }
        Assert.Equal(30, reset.Count);
        Assert.Equal(30, server.Server.Limits.Refusals["DataPlane:StalledReaderTimeout"]);
        await NothingIsCountedAsync(server);
        await using Http2Peer reads = await Http2Peer.ConnectAsync(server.ControlPort);
        Assert.True(await IsAnsweredAsync(reads));
    }

    [Fact]
    public async Task What_a_call_keeps_of_a_run_counts_while_its_client_grants_no_credit()
    {
        await using TestServer server = await StartAsync(memory: 1_000_000);
        await using Http2Peer peer = await Http2Peer.ConnectAsync(server.ControlPort);
        for (int i = 0; i < 4; i++)
            await peer.CallAsync(Service + "Messages/Consume", isLast: false, RequestOf("Messages/Consume"));
        // Each is given one message of a batch of 256 KiB; two of those are more than a share of 1 MB allows.
        await Eventually.TrueAsync(
            () => server.Server.Limits.Refusals[Memory] >= 2,
            Patience,
            () => $"{server.Server.Limits.Refusals[Memory]} calls ended; {server.Server.Limits.Bodies.Taken} bytes"
        );
        Assert.InRange(server.Server.Limits.Bodies.Taken, 250_000, 500_000);
        await peer.DisposeAsync();
        await NothingIsCountedAsync(server);
    }

    /// <summary>Whether calls that are made at once are all served, rather than refused.</summary>
    private static async Task<bool> IsAnsweredAsync(Http2Peer peer, int calls = 1)
    {
        await peer.CallAsync(Service + "Stats/GetBrokerStats", calls, new GetBrokerStatsRequest());
        var answered = new HashSet<int>();
        for (int ended = 0; ended < calls; )
        {
            Http2Frame frame = await peer.ReadAsync() ?? throw new IOException("The connection has ended.");
            if (frame.Type == Http2FrameType.Data)
                answered.Add(frame.Stream);
            ended += frame.IsLast ? 1 : 0;
        }
        return answered.Count == calls;
    }

    private static async Task<TestServer> StartAsync(
        long memory = 256 << 20,
        TimeSpan? stalled = null,
        int calls = 10_000
    )
    {
        TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = new()
                {
                    StalledReaderTimeout = stalled ?? TimeSpan.FromSeconds(0.5),
                    MaxAssemblyBytes = memory,
                },
                Http = new() { MaxCalls = calls, MaxCallsPerSecond = 0 },
            }
        );
        await server.CreateTopicAsync(Topic, LightQ.Broker.Topics.TopicKind.Durable);
        await using RawClient publisher = await RawClient.ConnectAsync(server.DataPort);
        await publisher.OpenProducerAsync(Topic, 1);
        for (ulong batch = 0; batch < 4; batch++)
        {
            await publisher.SendAsync(RawClient.PublishFrame(1, RawClient.Batch(batch * 250, 1000, records: 250)));
            await publisher.ReadAsync(FrameType.PublishAck);
        }
        return server;
    }

    private static IMessage RequestOf(string method) =>
        method switch
        {
            "Messages/Browse" => new BrowseRequest { Topic = Topic, MaxMessages = 500 },
            "Messages/Consume" => new ConsumeRequest
            {
                Subscribe = new Subscribe
                {
                    Topic = Topic,
                    Credit = 1,
                    Earliest = true,
                },
            },
            "Stats/WatchTopicStats" => new WatchTopicStatsRequest
            {
                Topic = Topic,
                Interval = Duration.FromTimeSpan(TimeSpan.FromSeconds(0.1)),
            },
            _ => throw new ArgumentOutOfRangeException(nameof(method), method, "a method of this test"),
        };

    private static string WebCall(string method, IMessage request)
    {
        string body = Encoding.Latin1.GetString(Http2Peer.Message(request));
        return $"POST {Service}{method} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/grpc-web\r\n"
            + $"Content-Length: {body.Length}\r\n\r\n{body}";
    }

    /// <summary>Sends the same again and again without reading, until the broker ends the connection.</summary>
    private static async Task EndsAsync(TestServer server, byte[] requests)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
        {
            ReceiveBufferSize = 4096,
        };
        await socket.ConnectAsync(IPAddress.Loopback, server.WebPort, Cancel);
        using var patience = new CancellationTokenSource(Patience);
        try
        {
            while (true)
                await socket.SendAsync(requests, patience.Token);
        }
        catch (SocketException)
        {
            // It has ended; it had not been read.
        }
    }

    private static Task NothingIsCountedAsync(TestServer server) =>
        Eventually.TrueAsync(
            () => server.Server.Limits.Bodies.Taken == 0,
            Patience,
            () => $"{server.Server.Limits.Bodies.Taken} bytes are counted still"
        );
}

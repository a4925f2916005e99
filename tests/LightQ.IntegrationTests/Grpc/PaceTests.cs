using Grpc.Health.V1;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Server;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Grpc;

/// <summary>What a connection of the control port may do in a time, by a clock that the tests move.</summary>
public sealed class PaceTests
{
    private const string Pace = "Http:MaxCallsPerSecond",
        Headers = "Http:HeaderTimeout";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30),
        Step = TimeSpan.FromMilliseconds(500),
        HeaderTimeout = TimeSpan.FromSeconds(10);

    private readonly ManualTime _time = new();
    private readonly DateTimeOffset _begin;

    public PaceTests() => _begin = _time.GetUtcNow();

    private TimeSpan Elapsed => _time.GetUtcNow() - _begin;

    public static TheoryData<string, byte[]> Beginnings =>
        new()
        {
            { "the preface", "PRI * HTTP/2.0\r\n"u8.ToArray() },
            { "a frame's header", [0, 0, 8, 6, 0] },
            { "settings", [0, 0, 12, 4, 0, 0, 0, 0, 0, 0, 1] },
            { "headers", Http2Peer.Headers(3, Http2Peer.HeaderBlock("/lightq.control.v1.Auth/WhoAmI"))[..100] },
            {
                "headers that go on in another frame",
                Http2Peer.Frame(Http2FrameType.Headers, 0, 3, Http2Peer.HeaderBlock("/lightq.control.v1.Auth/WhoAmI"))
            },
        };

    /// <summary>
    /// So many calls as may come in 200 ms are served while no time passes, and more when it has; of those that fail
    /// not even one.
    /// </summary>
    [Theory]
    [InlineData("/lightq.control.v1.Auth/WhoAmI", 4)]
    [InlineData("/lightq.control.v1.Auth/DeleteUser", 1)] // There is none of an empty name.
    [InlineData("/lightq.control.v1.Nowhere/Nothing", 1)]
    public async Task A_connection_that_calls_too_fast_is_heard_again_later_and_others_at_once(string path, int served)
    {
        await using TestServer server = await StartAsync(new HttpOptions { MaxCallsPerSecond = 20 });
        await using Http2Peer peer = await Http2Peer.ConnectAsync(server.ControlPort);
        for (int i = 0; i < served; i++)
        {
            await peer.CallAsync(path, isLast: true, new WhoAmIRequest());
            await AnsweredAsync(peer, 1);
        }
        await peer.CallAsync(path, 3, new WhoAmIRequest());
        Task more = AnsweredAsync(peer, 3);
        await Eventually.TrueAsync(
            () => server.Server.Limits.Refusals[Pace] != 0,
            Patience,
            () => "the connection is not held back"
        );
        await server.Control.CallAsync<WhoAmIRequest, WhoAmIResponse>("WhoAmI", new());
        Assert.False(more.IsCompleted);
        await AdvanceUntilAsync(() => more.IsCompleted);
        await more;
    }

    [Fact]
    public async Task Without_the_limit_nothing_waits()
    {
        await using TestServer server = await StartAsync(new HttpOptions { MaxCallsPerSecond = 0 });
        await using Http2Peer peer = await Http2Peer.ConnectAsync(server.ControlPort);
        for (int i = 0; i < 10; i++)
        {
            for (int j = 0; j < 50; j++)
                await peer.CallAsync("/lightq.control.v1.Auth/WhoAmI", isLast: true, new WhoAmIRequest());
            await AnsweredAsync(peer, 50);
        }
        Assert.Equal(0, server.Server.Limits.Refusals[Pace]);
    }

    [Theory]
    [MemberData(nameof(Beginnings))]
    public async Task What_comes_byte_by_byte_ends_the_connection_when_its_time_is_over(string beginning, byte[] bytes)
    {
        await using TestServer server = await StartAsync(new HttpOptions { HeaderTimeout = HeaderTimeout });
        await using Http2Peer peer =
            beginning == "the preface"
                ? await Http2Peer.ConnectAsync(server.ControlPort, isSilent: true)
                : await Http2Peer.ConnectAsync(server.ControlPort);
        if (beginning != "the preface")
            await WatchAsync(peer); // A connection without a call would be closed for its idleness some day.
        Task<Http2Frame?> next = peer.ReadAsync();
        int sent = 0;
        await AdvanceUntilAsync(async () =>
        {
            if (sent < bytes.Length)
                await peer.SendAsync([bytes[sent++]]);
            return next.IsCompleted;
        });
        Assert.Null(await next);
        Assert.Equal(1, server.Server.Limits.Refusals[Headers]);
        Assert.True(Elapsed >= HeaderTimeout, $"It had only {Elapsed}.");
    }

    [Fact]
    public async Task The_bytes_of_a_message_may_come_one_by_one()
    {
        await using TestServer server = await StartAsync(new HttpOptions { HeaderTimeout = HeaderTimeout });
        await server.CreateTopicAsync("orders");
        await using Http2Peer peer = await Http2Peer.ConnectAsync(server.ControlPort);
        await WatchAsync(peer);
        int stream = await peer.CallAsync("/lightq.control.v1.Messages/Consume", isLast: false);
        byte[] request = Http2Peer.Frame(
            Http2FrameType.Data,
            0,
            stream,
            Http2Peer.Message(new ConsumeRequest { Subscribe = new Subscribe { Topic = "orders" } })
        );
        await peer.SendAsync(request[..^1]);
        for (int i = 0; i < 20; i++)
            _time.Advance(HeaderTimeout / 10);
        await peer.SendAsync(request[^1..]);
        Assert.True(await IsAnsweredAsync(peer, stream), "The connection has ended.");
    }

    private Task<TestServer> StartAsync(HttpOptions http) =>
        TestServer.StartAsync(o => o with { TimeProvider = _time, Http = http });

    private Task AdvanceUntilAsync(Func<bool> condition) => AdvanceUntilAsync(() => Task.FromResult(condition()));

    private Task AdvanceUntilAsync(Func<Task<bool>> condition) =>
        Eventually.TrueAsync(
            async () =>
            {
                _time.Advance(Step);
                return await condition();
            },
            Patience,
            () => $"nothing happened in {Elapsed}"
        );

    /// <summary>Begins a call that goes on, and waits until the broker serves it.</summary>
    private static async Task WatchAsync(Http2Peer peer) =>
        Assert.True(
            await IsAnsweredAsync(
                peer,
                await peer.CallAsync("/grpc.health.v1.Health/Watch", isLast: true, new HealthCheckRequest())
            )
        );

    private static async Task<bool> IsAnsweredAsync(Http2Peer peer, int stream)
    {
        while (await peer.ReadAsync() is { } frame)
        {
            if (frame.Type == Http2FrameType.Data && frame.Stream == stream)
                return true;
        }
        return false;
    }

    /// <summary>Reads until so many calls have ended.</summary>
    private static async Task AnsweredAsync(Http2Peer peer, int calls)
    {
        while (calls > 0)
        {
            Http2Frame? frame = await peer.ReadAsync();
            Assert.NotNull(frame);
            if (frame.Value.IsLast)
                calls--;
        }
    }
}

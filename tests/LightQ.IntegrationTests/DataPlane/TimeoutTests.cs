using System.Net.Sockets;
using LightQ.Client;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.DataPlane;

/// <summary>What the data plane does when its clock says so. Nothing here waits for a limit to pass.</summary>
public sealed class TimeoutTests
{
    private static readonly TimeSpan Heartbeat = TimeSpan.FromSeconds(10),
        Handshake = TimeSpan.FromSeconds(5),
        Linger = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Moment = TimeSpan.FromSeconds(0.5);

    /// <summary>Bytes that a peer's system does not take unless it reads, and the broker's keeps for it.</summary>
    private const int MoreThanIsReceived = 500_000;

    private readonly ManualTime _time = new();

    [Fact]
    public async Task A_client_that_says_no_Hello_is_cut_when_the_handshake_time_is_over()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort, greet: false);
        await server.ConnectionsAsync(1);

        _time.Advance(Handshake - Moment);
        Assert.Equal(1, server.Server.ConnectionCount);
        _time.Advance(Moment);

        Assert.Equal(ErrorCode.TimedOut, await ReasonAsync(client, "DataPlane:HandshakeTimeout"));
        _time.Advance(Moment);
        Assert.Equal(default, (await client.ReadAsync()).Header);
        await server.ConnectionsAsync(0);
        Assert.Contains(server.Log.Lines, l => l.Message.Contains("said no Hello in time", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_quiet_client_gets_a_Ping_each_heartbeat_and_is_cut_after_three()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await RoundTripAsync(client);

        for (int beat = 1; beat < 3; beat++)
        {
            _time.Advance(Heartbeat);
            Assert.Equal(FrameType.Ping, (await client.ReadAsync()).Header.Type);
        }
        Assert.Equal(1, server.Server.ConnectionCount);
        await SentAsync();
        _time.Advance(Heartbeat);

        Assert.Equal(ErrorCode.TimedOut, await ReasonAsync(client, "DataPlane:Heartbeat"));
        _time.Advance(Moment);
        Assert.Equal(default, (await client.ReadAsync()).Header);
        await server.ConnectionsAsync(0);
        Assert.Contains(
            server.Log.Lines,
            l => l.Message.Contains("was silent for three heartbeats", StringComparison.Ordinal)
        );
    }

    [Fact]
    public async Task A_client_that_answers_Pings_stays()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await RoundTripAsync(client);

        for (int beat = 0; beat < 10; beat++)
        {
            _time.Advance(Heartbeat);
            await client.SendAsync(
                new PongFrame(FrameCodec.Read<PingFrame>(await client.ReadAsync(FrameType.Ping)).Payload)
            );
            await RoundTripAsync(client);
        }
        Assert.Equal(1, server.Server.ConnectionCount);
    }

    [Fact]
    public async Task A_refused_client_that_stays_is_cut_when_it_has_had_time_to_read_why()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort, greet: false);
        await client.SendAsync(new PingFrame(1));
        Assert.Equal(ErrorCode.UnexpectedFrame, FrameCodec.Read<ErrorFrame>((await client.ReadAsync()).Body).Code);

        _time.Advance(Linger - Moment);
        Assert.Equal(1, server.Server.ConnectionCount);
        _time.Advance(Moment);

        await server.ConnectionsAsync(0);
    }

    [Fact]
    public async Task A_client_that_sends_a_frame_too_slowly_is_told_so_and_cut()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await RoundTripAsync(client);
        byte[] frame = RawClient.PublishFrame(1, RawClient.Batch(0, 100_000));

        await client.SendAsync(frame.AsMemory(0, 100));
        // Nothing says that bytes of half a frame have been received.
        await Task.Delay(100, TestContext.Current.CancellationToken);
        _time.Advance(Heartbeat - Moment);
        await client.SendAsync(frame.AsMemory(100, 1));
        await Task.Delay(100, TestContext.Current.CancellationToken);
        _time.Advance(Moment);

        Assert.Equal(ErrorCode.TimedOut, await ReasonAsync(client, "DataPlane:MinFrameBytesPerSecond"));
        Assert.Equal(1, server.Server.Limits.Refusals["DataPlane:MinFrameBytesPerSecond"]);
    }

    [Fact]
    public async Task A_subscriber_that_neither_reads_nor_speaks_is_reset_so_that_the_system_keeps_nothing_for_it()
    {
        await using TestServer server = await TestServer.StartAsync(time: _time);
        await server.CreateTopicAsync("t");
        await using RawClient deaf = await RawClient.ConnectAsync(server.DataPort);
        deaf.Socket.ReceiveBufferSize = 4096;
        await deaf.SubscribeAsync("t", 1, uint.MaxValue, StartKind.Latest);
        await using (RawClient publisher = await RawClient.ConnectAsync(server.DataPort))
        {
            await publisher.OpenProducerAsync("t", 1);
            await publisher.SendAsync(RawClient.PublishFrame(1, RawClient.Batch(0, MoreThanIsReceived)));
            await publisher.ReadAsync(FrameType.PublishAck);
        }
        await server.ConnectionsAsync(1);

        for (int beat = 1; beat <= 3; beat++)
            _time.Advance(Heartbeat);
        _time.Advance(Moment); // Its time to read why is over.
        await server.ConnectionsAsync(0);

        byte[] buffer = new byte[64 * 1024];
        SocketError error;
        while (deaf.Socket.Receive(buffer, SocketFlags.None, out error) > 0)
        {
            // What had arrived.
        }
        Assert.Equal(SocketError.ConnectionReset, error);
    }

    /// <summary>
    /// What the client has read, the broker has sent; its sender learns that a moment later. Until then it is cut
    /// without a reason, as one that does not read.
    /// </summary>
    private static Task SentAsync() => Task.Delay(100, TestContext.Current.CancellationToken);

    private static async Task<ErrorCode> ReasonAsync(RawClient client, string limit)
    {
        while (true)
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync();
            if (header.Type == FrameType.Ping)
                continue;
            Assert.Equal(FrameType.Error, header.Type);
            ErrorFrame error = FrameCodec.Read<ErrorFrame>(body);
            Assert.Contains($"the limit ({limit}) is", error.Message, StringComparison.Ordinal);
            return error.Code;
        }
    }

    /// <summary>After it the broker has handled everything the client sent.</summary>
    private static async Task RoundTripAsync(RawClient client)
    {
        await client.SendAsync(new PingFrame(7));
        Assert.Equal(7ul, FrameCodec.Read<PongFrame>(await client.ReadAsync(FrameType.Pong)).Payload);
    }
}

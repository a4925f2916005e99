using Google.Protobuf;
using LightQ.Grpc;
using Xunit;

namespace LightQ.Tests.Grpc;

/// <summary>The four shapes of a call, client and server, over a loopback socket.</summary>
public sealed class GrpcCallTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Unary_call_returns_the_message()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        EchoMessage reply = await channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage { Text = "hello" }, null, Token);
        Assert.Equal("hello", reply.Text);
    }

    [Fact]
    public async Task Unary_call_carries_an_empty_message()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        Assert.Equal(new EchoMessage(), await channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), null, Token));
    }

    [Fact]
    public async Task Client_stream_is_read_to_its_end_and_answered_once()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        using GrpcClientStreamingCall<EchoMessage, EchoMessage> call = channel.ClientStreaming(EchoServer.CollectMethod, null, Token);
        foreach (string text in new[] { "a", "b", "c" })
            await call.WriteAsync(new EchoMessage { Text = text }, Token);
        EchoMessage sum = await call.CompleteAsync(Token);
        Assert.Equal("abc", sum.Text);
        Assert.Equal(3, sum.Count);
    }

    [Fact]
    public async Task Client_stream_without_requests_is_answered()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        using GrpcClientStreamingCall<EchoMessage, EchoMessage> call = channel.ClientStreaming(EchoServer.CollectMethod, null, Token);
        Assert.Equal(0, (await call.CompleteAsync(Token)).Count);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(1000)]
    public async Task Server_stream_yields_every_response_in_order(int count)
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        int next = 0;
        await foreach (EchoMessage response in channel.ServerStreaming(EchoServer.RepeatMethod, new EchoMessage { Count = count }, null, Token))
            Assert.Equal(next++, response.Count);
        Assert.Equal(count, next);
    }

    [Fact]
    public async Task Duplex_stream_answers_each_request_before_the_next_is_sent()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        using GrpcDuplexStreamingCall<EchoMessage, EchoMessage> call = channel.DuplexStreaming(EchoServer.ConverseMethod, null, Token);
        for (int i = 0; i < 100; i++)
        {
            await call.WriteAsync(new EchoMessage { Count = i }, Token);
            Assert.Equal(i, (await call.ReadAsync(Token))!.Count);
        }

        call.CompleteRequests();
        Assert.Null(await call.ReadAsync(Token));
        Assert.Null(await call.ReadAsync(Token));
    }

    [Fact]
    public async Task Duplex_server_may_speak_first()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        server.Converse = async (_, responses, _) => await responses.WriteAsync(new EchoMessage { Text = "welcome" });
        using GrpcChannel channel = server.Connect();
        using GrpcDuplexStreamingCall<EchoMessage, EchoMessage> call = channel.DuplexStreaming(EchoServer.ConverseMethod, null, Token);
        List<string> texts = [];
        await foreach (EchoMessage response in call.ReadAllAsync(Token))
            texts.Add(response.Text);
        Assert.Equal(["welcome"], texts);
    }

    [Fact]
    public async Task Big_messages_pass_in_both_directions()
    {
        const int Limit = 40 * 1024 * 1024; // above Kestrel's own limit of 30 MB for a request
        await using EchoServer server = await EchoServer.StartAsync(new() { MaxReceiveMessageSize = Limit });
        using GrpcChannel channel = server.Connect(new() { MaxReceiveMessageSize = Limit });
        byte[] payload = new byte[33 * 1024 * 1024];
        new Random(1).NextBytes(payload);
        EchoMessage reply = await channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage { Payload = ByteString.CopyFrom(payload) }, null, Token);
        Assert.True(reply.Payload.Span.SequenceEqual(payload));
    }

    [Fact]
    public async Task Calls_at_the_same_time_do_not_mix()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        EchoMessage[] replies = await Task.WhenAll(Enumerable.Range(0, 200).Select(i =>
            channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage { Count = i }, null, Token)));
        Assert.Equal(Enumerable.Range(0, 200), replies.Select(r => r.Count));
    }

    [Fact]
    public async Task Metadata_travels_both_ways()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        GrpcMetadata? received = null;
        string? peer = null;
        server.Unary = (request, context) =>
        {
            received = context.RequestMetadata;
            peer = context.Peer;
            context.ResponseHeaders.Add("x-head", "1");
            context.ResponseTrailers.Add("x-tail", "2");
            context.ResponseTrailers.Add("x-tail-bin", [0, 255]);
            return Task.FromResult(request);
        };
        using GrpcChannel channel = server.Connect();
        GrpcMetadata? headers = null;
        GrpcMetadata? trailers = null;
        GrpcCallOptions options = new()
        {
            Metadata = new() { { "authorization", "Bearer t" }, { "x-bin", [1, 2, 3] } },
            OnResponseHeaders = h => headers = h,
            OnResponseTrailers = t => trailers = t,
        };
        await channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), options, Token);

        Assert.Equal("Bearer t", received!.GetValue("authorization"));
        Assert.Equal([1, 2, 3], received.GetBytes("x-bin")!.Value.ToArray());
        Assert.StartsWith("ipv4:127.0.0.1:", peer, StringComparison.Ordinal);
        Assert.Equal("1", headers!.GetValue("x-head"));
        Assert.Equal("2", trailers!.GetValue("x-tail"));
        Assert.Equal([0, 255], trailers.GetBytes("x-tail-bin")!.Value.ToArray());
    }

    [Fact]
    public async Task Response_headers_can_go_ahead_of_the_first_response()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        TaskCompletionSource seen = new(TaskCreationOptions.RunContinuationsAsynchronously);
        server.Repeat = async (_, responses, context) =>
        {
            context.ResponseHeaders.Add("x-head", "1");
            await context.SendResponseHeadersAsync();
            await seen.Task.WaitAsync(context.CancellationToken);
            await responses.WriteAsync(new EchoMessage());
        };
        using GrpcChannel channel = server.Connect();
        GrpcCallOptions options = new() { OnResponseHeaders = headers => seen.SetResult() };
        int count = 0;
        await foreach (EchoMessage unused in channel.ServerStreaming(EchoServer.RepeatMethod, new EchoMessage(), options, Token))
            count++;
        Assert.Equal(1, count);
    }
}

using Google.Protobuf;
using LightQ.Grpc;
using LightQ.Grpc.AspNetCore;
using Xunit;

namespace LightQ.Tests.Grpc;

/// <summary>How calls end when they do not end with OK.</summary>
public sealed class GrpcStatusTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_status_with_UTF8_text_and_trailers_reaches_the_client()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        server.Unary = (_, context) =>
        {
            context.ResponseTrailers.Add("x-context", "1");
            GrpcMetadata trailers = new() { { "x-error", "42" } };
            throw new GrpcException(new GrpcStatus(GrpcStatusCode.NotFound, "Über 100 %: 😀\n"), trailers);
        };
        using GrpcChannel channel = server.Connect();
        GrpcException error = await CallAsync(channel);
        Assert.Equal(new GrpcStatus(GrpcStatusCode.NotFound, "Über 100 %: 😀\n"), error.Status);
        Assert.Equal("42", error.Trailers.GetValue("x-error"));
        Assert.Equal("1", error.Trailers.GetValue("x-context"));
    }

    [Fact]
    public async Task A_status_after_responses_comes_after_them()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        server.Repeat = async (_, responses, _) =>
        {
            await responses.WriteAsync(new EchoMessage { Text = "one" });
            throw new GrpcException(GrpcStatusCode.Aborted, "enough");
        };
        using GrpcChannel channel = server.Connect();
        List<string> texts = [];
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(async () =>
        {
            await foreach (EchoMessage response in channel.ServerStreaming(EchoServer.RepeatMethod, new EchoMessage(), null, Token))
                texts.Add(response.Text);
        });
        Assert.Equal(["one"], texts);
        Assert.Equal(new GrpcStatus(GrpcStatusCode.Aborted, "enough"), error.Status);
    }

    [Fact]
    public async Task An_unhandled_exception_is_UNKNOWN_keeps_its_detail_and_is_logged()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        server.Unary = (_, _) => throw new InvalidOperationException("secret");
        using GrpcChannel channel = server.Connect();
        GrpcException error = await CallAsync(channel);
        Assert.Equal(GrpcStatusCode.Unknown, error.Status.Code);
        Assert.DoesNotContain("secret", error.ToString(), StringComparison.Ordinal);
        Assert.Equal("secret", Assert.Single(server.Log.Lines).Error!.Message);
    }

    [Fact]
    public async Task Interceptors_run_in_order_and_may_refuse_or_translate()
    {
        List<string> order = [];
        GrpcServerInterceptor outer = async (context, next) =>
        {
            order.Add("outer");
            try
            {
                await next(context);
            }
            catch (TimeZoneNotFoundException e)
            {
                throw new GrpcException(new GrpcStatus(GrpcStatusCode.FailedPrecondition, e.Message), new() { { "error-code", "7" } });
            }
        };
        GrpcServerInterceptor inner = (context, next) =>
        {
            order.Add($"inner {context.Method} {context.MethodType}");
            return context.RequestMetadata.GetValue("authorization") is null
                ? throw new GrpcException(GrpcStatusCode.Unauthenticated, "who are you?")
                : next(context);
        };
        await using EchoServer server = await EchoServer.StartAsync(new() { Interceptors = [outer, inner] });
        server.Unary = (_, _) => throw new TimeZoneNotFoundException("translated");
        using GrpcChannel channel = server.Connect();

        Assert.Equal(GrpcStatusCode.Unauthenticated, (await CallAsync(channel)).Status.Code);
        Assert.Equal(["outer", "inner /lightq.tests.echo.Echo/Unary Unary"], order);

        GrpcException error = await CallAsync(channel, new GrpcCallOptions { Metadata = new() { { "authorization", "me" } } });
        Assert.Equal(new GrpcStatus(GrpcStatusCode.FailedPrecondition, "translated"), error.Status);
        Assert.Equal("7", error.Trailers.GetValue("error-code"));
    }

    [Fact]
    public async Task A_request_above_the_servers_limit_is_RESOURCE_EXHAUSTED()
    {
        await using EchoServer server = await EchoServer.StartAsync(new() { MaxReceiveMessageSize = 1000 });
        using GrpcChannel channel = server.Connect();
        GrpcException error = await CallAsync(channel, request: new EchoMessage { Payload = ByteString.CopyFrom(new byte[5_000_000]) });
        Assert.Equal(GrpcStatusCode.ResourceExhausted, error.Status.Code);
        Assert.Contains("1000", error.Status.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_response_above_the_clients_limit_is_RESOURCE_EXHAUSTED()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        EchoMessage request = new() { Payload = ByteString.CopyFrom(new byte[1000]) };
        Assert.Equal(GrpcStatusCode.ResourceExhausted, (await CallAsync(channel, new() { MaxReceiveMessageSize = 1000 }, request)).Status.Code);
        Assert.Equal(GrpcStatusCode.ResourceExhausted, (await CallAsync(channel, new() { MaxSendMessageSize = 1000 }, request)).Status.Code);
        await channel.UnaryAsync(EchoServer.UnaryMethod, request, null, Token); // the channel is none the worse
    }

    [Fact]
    public async Task A_failed_write_tells_why_the_server_ended_the_call()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        server.Collect = (_, _) => throw new GrpcException(GrpcStatusCode.PermissionDenied, "not you");
        using GrpcChannel channel = server.Connect();
        using GrpcClientStreamingCall<EchoMessage, EchoMessage> call = channel.ClientStreaming(EchoServer.CollectMethod, null, Token);
        EchoMessage request = new() { Payload = ByteString.CopyFrom(new byte[100_000]) };
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(async () =>
        {
            while (true)
                await call.WriteAsync(request, Token);
        });
        Assert.Equal(new GrpcStatus(GrpcStatusCode.PermissionDenied, "not you"), error.Status);
        error = await Assert.ThrowsAsync<GrpcException>(() => call.CompleteAsync(Token));
        Assert.Equal(new GrpcStatus(GrpcStatusCode.PermissionDenied, "not you"), error.Status);
    }

    [Fact]
    public async Task A_handler_may_answer_before_the_requests_end()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        server.Collect = (_, _) => Task.FromResult(new EchoMessage { Text = "enough" });
        using GrpcChannel channel = server.Connect();
        using GrpcClientStreamingCall<EchoMessage, EchoMessage> call = channel.ClientStreaming(EchoServer.CollectMethod, null, Token);
        Assert.Equal("enough", (await call.CompleteAsync(Token)).Text);
    }

    [Fact]
    public async Task A_stopping_server_ends_streams_with_UNAVAILABLE()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        server.Repeat = async (_, responses, context) =>
        {
            await responses.WriteAsync(new EchoMessage());
            await Task.Delay(Timeout.Infinite, context.CancellationToken);
        };
        using GrpcChannel channel = server.Connect();
        await using IAsyncEnumerator<EchoMessage> responses =
            channel.ServerStreaming(EchoServer.RepeatMethod, new EchoMessage(), null, Token).GetAsyncEnumerator(Token);
        Assert.True(await responses.MoveNextAsync());
        Task stopping = server.StopAsync();
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(async () => await responses.MoveNextAsync());
        Assert.Equal(GrpcStatusCode.Unavailable, error.Status.Code);
        await stopping;
    }

    private static Task<GrpcException> CallAsync(GrpcChannel channel, GrpcCallOptions? options = null, EchoMessage? request = null) =>
        Assert.ThrowsAsync<GrpcException>(() => channel.UnaryAsync(EchoServer.UnaryMethod, request ?? new EchoMessage(), options, Token));
}

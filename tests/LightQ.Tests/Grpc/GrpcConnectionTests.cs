using System.Net;
using System.Net.Sockets;
using LightQ.Grpc;
using Xunit;

namespace LightQ.Tests.Grpc;

/// <summary>What a caller is told when nothing, or nothing of the kind, is at the address.</summary>
public sealed class GrpcConnectionTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_refused_connection_is_UNAVAILABLE()
    {
        using var nobody = new RefusingPort();
        GrpcException error = await CallAsync(nobody.Port);
        Assert.Equal(GrpcStatusCode.Unavailable, error.Status.Code);
        Assert.Contains($"No connection to 127.0.0.1:{nobody.Port}", error.Status.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")]
    [InlineData("+PONG\r\nthis is quite another protocol, and it goes on for a while\r\n")]
    [InlineData("")]
    public async Task A_port_that_does_not_speak_HTTP2_is_UNAVAILABLE_and_says_so(string answer)
    {
        using TcpListener listener = new(IPAddress.Loopback, 0);
        listener.Start();
        Task serving = AnswerAsync(listener, answer);
        GrpcException error = await CallAsync(((IPEndPoint)listener.LocalEndpoint).Port);
        Assert.Equal(GrpcStatusCode.Unavailable, error.Status.Code);
        Assert.Contains("HTTP/2", error.Status.Message, StringComparison.Ordinal); // the words depend on how far the handshake came
        listener.Stop();
        await Assert.ThrowsAnyAsync<Exception>(() => serving);
    }

    [Fact]
    public async Task A_name_that_does_not_resolve_is_UNAVAILABLE()
    {
        using GrpcChannel channel = new(new Uri("http://does-not-exist.invalid:5701"));
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(() => channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), null, Token));
        Assert.Equal(GrpcStatusCode.Unavailable, error.Status.Code);
        Assert.Contains("does-not-exist.invalid", error.Status.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_write_to_a_refused_connection_is_UNAVAILABLE()
    {
        using var nobody = new RefusingPort();
        using GrpcChannel channel = new(new Uri($"http://127.0.0.1:{nobody.Port}"));
        using GrpcDuplexStreamingCall<EchoMessage, EchoMessage> call = channel.DuplexStreaming(EchoServer.ConverseMethod, null, Token);
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(async () => await call.WriteAsync(new EchoMessage(), Token));
        Assert.Equal(GrpcStatusCode.Unavailable, error.Status.Code);
    }

    [Fact]
    public async Task A_server_that_went_away_is_UNAVAILABLE_to_the_next_call()
    {
        EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        await channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), null, Token);
        await server.DisposeAsync();
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(() => channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), null, Token));
        Assert.Equal(GrpcStatusCode.Unavailable, error.Status.Code);
    }

    [Theory]
    [InlineData("ftp://localhost")]
    [InlineData("relative")]
    public void An_address_that_is_not_http_is_refused(string address) =>
        Assert.Throws<ArgumentException>(() => new GrpcChannel(new Uri(address, UriKind.RelativeOrAbsolute)));

    [Theory]
    [InlineData(HttpStatusCode.Unauthorized, GrpcStatusCode.Unauthenticated)]
    [InlineData(HttpStatusCode.NotFound, GrpcStatusCode.Unimplemented)]
    [InlineData(HttpStatusCode.BadGateway, GrpcStatusCode.Unavailable)]
    [InlineData(HttpStatusCode.Redirect, GrpcStatusCode.Unknown)]
    [InlineData(HttpStatusCode.OK, GrpcStatusCode.Unknown)]
    public async Task An_answer_that_is_plain_HTTP_becomes_a_status(HttpStatusCode http, GrpcStatusCode expected)
    {
        using FixedAnswer handler = new(() => new HttpResponseMessage(http) { Content = new StringContent("<html>") });
        using GrpcChannel channel = new(new Uri("http://localhost"), new() { Handler = handler });
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(() => channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), null, Token));
        Assert.Equal(expected, error.Status.Code);
    }

    [Fact]
    public async Task A_response_without_a_status_is_UNKNOWN()
    {
        using FixedAnswer handler = new(() =>
        {
            HttpResponseMessage response = new() { Content = new ByteArrayContent([0, 0, 0, 0, 0]) };
            response.Content.Headers.TryAddWithoutValidation("Content-Type", "application/grpc");
            return response;
        });
        using GrpcChannel channel = new(new Uri("http://localhost"), new() { Handler = handler });
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(() => channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), null, Token));
        Assert.Equal(new GrpcStatus(GrpcStatusCode.Unknown, "The response ended without a status."), error.Status);
    }

    private static async Task<GrpcException> CallAsync(int port)
    {
        using GrpcChannel channel = new(new Uri($"http://127.0.0.1:{port}"));
        return await Assert.ThrowsAsync<GrpcException>(() => channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), null, Token));
    }

    /// <summary>Answers every connection with the same bytes, after it has said something, and closes it.</summary>
    private static async Task AnswerAsync(TcpListener listener, string answer)
    {
        byte[] received = new byte[1024];
        while (true)
        {
            using Socket socket = await listener.AcceptSocketAsync(Token);
            await socket.ReceiveAsync(received, Token);
            await socket.SendAsync(System.Text.Encoding.ASCII.GetBytes(answer), Token);
            socket.Shutdown(SocketShutdown.Send);
            while (await socket.ReceiveAsync(received, Token) > 0)
            {
            }
        }
    }

    private sealed class FixedAnswer(Func<HttpResponseMessage> answer) : HttpMessageHandler
    {
        protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken) => Task.FromResult(answer());
    }
}

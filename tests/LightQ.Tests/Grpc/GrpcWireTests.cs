using System.Net;
using System.Net.Http.Headers;
using LightQ.Grpc.AspNetCore.Calls;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Xunit;

namespace LightQ.Tests.Grpc;

/// <summary>What the server does with requests that no gRPC library would send, and how its answers look on the wire.</summary>
public sealed class GrpcWireTests
{
    private const string UnaryPath = "/lightq.tests.echo.Echo/Unary";
    private static readonly byte[] Empty = [0, 0, 0, 0, 0];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("application/json", HttpStatusCode.UnsupportedMediaType)]
    [InlineData("application/grpc-web", HttpStatusCode.UnsupportedMediaType)]
    [InlineData("application/grpc", HttpStatusCode.OK)]
    [InlineData("application/grpc+proto", HttpStatusCode.OK)]
    public async Task The_content_type_must_be_gRPCs(string contentType, HttpStatusCode expected)
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using HttpResponseMessage response = await PostAsync(server, UnaryPath, Empty, contentType);
        Assert.Equal(expected, response.StatusCode);
    }

    [Theory]
    [InlineData("/lightq.tests.echo.Echo/Nothing")]
    [InlineData("/no.such.Service/Unary")]
    public async Task An_unknown_method_is_UNIMPLEMENTED_in_a_trailers_only_response(string path)
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using HttpResponseMessage response = await PostAsync(server, path, Empty);
        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.Equal("12", response.Headers.GetValues("grpc-status").Single());
        Assert.Equal("application/grpc", response.Content.Headers.ContentType!.MediaType);
        Assert.Empty(await response.Content.ReadAsByteArrayAsync(Token));
        Assert.Empty(response.TrailingHeaders);
    }

    [Fact]
    public async Task A_success_has_its_message_in_the_body_and_its_status_in_the_trailers()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        byte[] frame = [0, 0, 0, 0, 3, 0x0A, 1, (byte)'x'];
        using HttpResponseMessage response = await PostAsync(server, UnaryPath, frame);
        Assert.Equal(frame, await response.Content.ReadAsByteArrayAsync(Token));
        Assert.False(response.Headers.Contains("grpc-status"));
        Assert.Equal("0", response.TrailingHeaders.GetValues("grpc-status").Single());
        Assert.Equal("identity", response.Headers.GetValues("grpc-accept-encoding").Single());
    }

    [Theory]
    [InlineData(new byte[0], "12")] // no message
    [InlineData(new byte[] { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, "12")] // two messages
    [InlineData(new byte[] { 0, 0, 0 }, "13")] // half a prefix
    [InlineData(new byte[] { 0, 0, 0, 0, 1, 0xFF }, "13")] // no protobuf
    [InlineData(new byte[] { 1, 0, 0, 0, 0 }, "13")] // compressed, but how?
    [InlineData(new byte[] { 0, 0x7F, 0xFF, 0xFF, 0xFF }, "8")] // 2 GiB to come
    public async Task A_malformed_request_is_answered_with_a_status(byte[] body, string expected)
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using HttpResponseMessage response = await PostAsync(server, UnaryPath, body);
        Assert.Equal(expected, response.Headers.GetValues("grpc-status").Single());
    }

    [Fact]
    public async Task A_compression_is_UNIMPLEMENTED_and_identity_is_offered()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using HttpResponseMessage response = await PostAsync(server, UnaryPath, [1, 0, 0, 0, 0], headers: ("grpc-encoding", "gzip"));
        Assert.Equal("12", response.Headers.GetValues("grpc-status").Single());
        Assert.Equal("identity", response.Headers.GetValues("grpc-accept-encoding").Single());
    }

    [Fact]
    public async Task A_malformed_timeout_is_answered_with_a_status()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using HttpResponseMessage response = await PostAsync(server, UnaryPath, Empty, headers: ("grpc-timeout", "soon"));
        Assert.Equal("13", response.Headers.GetValues("grpc-status").Single());
    }

    [Fact]
    public async Task The_longest_timeout_there_is_does_no_harm()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using HttpResponseMessage response = await PostAsync(server, UnaryPath, Empty, headers: ("grpc-timeout", "99999999H"));
        Assert.Equal(Empty, await response.Content.ReadAsByteArrayAsync(Token));
        Assert.Equal("0", response.TrailingHeaders.GetValues("grpc-status").Single());
    }

    [Fact]
    public void HTTP1_is_told_to_upgrade()
    {
        DefaultHttpContext http = new();
        http.Request.ContentType = "application/grpc";
        http.Request.Protocol = "HTTP/1.1";
        Assert.Equal(StatusCodes.Status426UpgradeRequired, GrpcHttp.FindProblem(http.Request));
        http.Request.Protocol = "HTTP/2";
        Assert.Null(GrpcHttp.FindProblem(http.Request));
    }

    [Fact]
    public async Task Kestrels_limit_on_uploads_does_not_apply()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        bool lifted = false;
        server.Unary = (request, context) =>
        {
            lifted = context.HttpContext.Features.GetRequiredFeature<IHttpMaxRequestBodySizeFeature>().MaxRequestBodySize is null;
            return Task.FromResult(request);
        };
        using HttpResponseMessage response = await PostAsync(server, UnaryPath, Empty);
        Assert.True(lifted);
    }

    private static async Task<HttpResponseMessage> PostAsync(
        EchoServer server, string path, byte[] body, string contentType = "application/grpc", (string Name, string Value)? headers = null)
    {
        using HttpClient http = new();
        using HttpRequestMessage request = new(HttpMethod.Post, new Uri(server.Address, path))
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = new ByteArrayContent(body),
        };
        request.Content.Headers.ContentType = MediaTypeHeaderValue.Parse(contentType);
        if (headers is var (name, value)) request.Headers.Add(name, value);
        return await http.SendAsync(request, Token);
    }
}

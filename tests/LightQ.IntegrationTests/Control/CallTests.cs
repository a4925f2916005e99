using System.Buffers.Binary;
using System.IO.Compression;
using System.Net;
using System.Net.Http.Headers;
using Google.Protobuf;
using Google.Rpc;
using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Reflection.V1;
using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.IntegrationTests.Control;

/// <summary>What every call of the control plane has in common, whichever method it is.</summary>
public sealed class CallTests
{
    private const int MaxMessage = 64 * 1024;
    private const string GetTopic = "/lightq.control.v1.Topics/GetTopic",
        Publish = "/lightq.control.v1.Messages/Publish";

    private static readonly byte[] Empty = [0, 0, 0, 0, 0];

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_refusal_has_its_code_in_a_trailer_and_in_the_details()
    {
        await using TestServer server = await TestServer.StartAsync();
        RpcException error = await ControlCalls.FailsAsync(
            () => server.Control.CallAsync<GetTopicRequest, GetTopicResponse>("GetTopic", new() { Name = "nothing" }),
            StatusCode.NotFound,
            "UnknownTopic"
        );
        ErrorInfo info = error.GetRpcStatus()!.GetDetail<ErrorInfo>()!;
        Assert.Equal(("lightq", "UnknownTopic"), (info.Domain, info.Reason));
    }

    [Fact]
    public async Task A_call_is_refused_before_its_request_is_read()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        using HttpResponseMessage response = await PostAsync(server, GetTopic, [0, 0, 1]);
        Assert.Equal("16", response.Headers.GetValues("grpc-status").Single());
        Assert.Equal("Unauthenticated", response.Headers.GetValues(ControlCalls.CodeTrailer).Single());
        Assert.True(response.Headers.Contains("grpc-status-details-bin"));
    }

    [Theory]
    [InlineData(new byte[0], "13")] // no message
    [InlineData(new byte[] { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, "13")] // two messages
    [InlineData(new byte[] { 0, 0, 0 }, "13")] // half a prefix
    [InlineData(new byte[] { 1, 0, 0, 0, 0 }, "13")] // compressed, but how?
    [InlineData(new byte[] { 0, 0x7F, 0xFF, 0xFF, 0xFF }, "8")] // 2 GiB to come
    public async Task A_malformed_request_is_answered_with_a_status(byte[] body, string expected)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await PostAsync(server, GetTopic, body);
        Assert.Equal(expected, await StatusAsync(response));
    }

    [Fact]
    public async Task A_message_may_be_compressed_and_is_no_longer_than_others_when_inflated()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Http = new() { MaxMessageBytes = MaxMessage },
            }
        );
        await server.CreateTopicAsync("t");
        using HttpResponseMessage stored = await PostAsync(
            server,
            Publish,
            Compressed(new byte[MaxMessage / 2]),
            ("grpc-encoding", "gzip")
        );
        Assert.Equal("0", await StatusAsync(stored));
        using HttpResponseMessage refused = await PostAsync(
            server,
            Publish,
            Compressed(new byte[20 * MaxMessage]),
            ("grpc-encoding", "gzip")
        );
        Assert.Equal("8", await StatusAsync(refused));
        Assert.Contains(
            "Http:MaxMessageBytes",
            Uri.UnescapeDataString(refused.Headers.GetValues("grpc-message").Single()),
            StringComparison.Ordinal
        );
        Assert.Equal(1, server.Server.Limits.Refusals["Http:MaxMessageBytes"]);
    }

    [Fact]
    public async Task A_compression_that_is_not_known_is_UNIMPLEMENTED_and_the_known_one_is_offered()
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await PostAsync(
            server,
            GetTopic,
            [1, 0, 0, 0, 0],
            ("grpc-encoding", "snappy")
        );
        Assert.Equal("12", await StatusAsync(response));
        Assert.Contains("gzip", response.Headers.GetValues("grpc-accept-encoding").Single(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_broker_keeps_a_deadline_by_itself()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        byte[] watch = Framed(new WatchTopicStatsRequest { Topic = "t" }.ToByteArray(), isCompressed: false);
        using HttpResponseMessage response = await PostAsync(
            server,
            "/lightq.control.v1.Stats/WatchTopicStats",
            watch,
            ("grpc-timeout", "200m")
        );
        Assert.Equal("4", await StatusAsync(response));
    }

    [Fact]
    public async Task The_longest_deadline_there_is_does_no_harm()
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await PostAsync(
            server,
            "/lightq.control.v1.Topics/ListTopics",
            Empty,
            ("grpc-timeout", "99999999H")
        );
        Assert.Equal("0", await StatusAsync(response));
    }

    [Theory]
    [InlineData("/lightq.control.v1.Topics/Nothing")]
    [InlineData("/no.such.Service/Nothing")]
    public async Task An_unknown_method_is_UNIMPLEMENTED(string path)
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await PostAsync(server, path, Empty);
        Assert.Equal("12", await StatusAsync(response));
    }

    [Fact]
    public async Task Calls_that_wait_end_with_UNAVAILABLE_when_the_broker_stops()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        IAsyncEnumerator<WatchTopicStatsResponse> watch = server
            .Control.StreamAsync<WatchTopicStatsRequest, WatchTopicStatsResponse>(
                "WatchTopicStats",
                new() { Topic = "t" },
                cancellationToken: Cancel
            )
            .GetAsyncEnumerator(Cancel);
        Assert.True(await watch.MoveNextAsync());
        using AsyncDuplexStreamingCall<ServerReflectionRequest, ServerReflectionResponse> reflection =
            server.Control.Duplex<ServerReflectionRequest, ServerReflectionResponse>("ServerReflectionInfo");
        await reflection.RequestStream.WriteAsync(new ServerReflectionRequest { ListServices = "" }, Cancel);
        Assert.NotNull(await reflection.ReadAsync());
        Task watching = ReadToEndAsync(watch);
        Task<ServerReflectionResponse?> reflecting = reflection.ReadAsync();
        await server.Server.StopAsync();
        await ControlCalls.FailsAsync(() => watching, StatusCode.Unavailable, "ShuttingDown");
        await ControlCalls.FailsAsync(() => reflecting, StatusCode.Unavailable, "ShuttingDown");
    }

    [Fact]
    public async Task Who_watches_the_health_hears_of_a_drain()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        IAsyncEnumerator<HealthCheckResponse> watch = server
            .Control.StreamAsync<HealthCheckRequest, HealthCheckResponse>(
                "Watch",
                new() { Service = "lightq.control.v1.Topics" },
                cancellationToken: Cancel
            )
            .GetAsyncEnumerator(Cancel);
        Assert.True(await watch.MoveNextAsync());
        Assert.Equal(HealthCheckResponse.Types.ServingStatus.Serving, watch.Current.Status);
        Task stopping = server.Server.StopAsync();
        do Assert.True(await watch.MoveNextAsync());
        while (watch.Current.Status != HealthCheckResponse.Types.ServingStatus.NotServing);
        await stopping;
    }

    private static async Task ReadToEndAsync<T>(IAsyncEnumerator<T> responses)
    {
        while (await responses.MoveNextAsync()) { }
    }

    private static byte[] Compressed(byte[] body)
    {
        using var output = new MemoryStream();
        using (var gzip = new GZipStream(output, CompressionLevel.Fastest))
        {
            gzip.Write(
                new PublishRequest
                {
                    Topic = "t",
                    Messages = { new PublishedMessage { Body = ByteString.CopyFrom(body) } },
                }.ToByteArray()
            );
        }

        return Framed(output.ToArray(), isCompressed: true);
    }

    private static byte[] Framed(byte[] message, bool isCompressed)
    {
        byte[] frame = [isCompressed ? (byte)1 : (byte)0, 0, 0, 0, 0, .. message];
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(1), message.Length);
        return frame;
    }

    private static async Task<HttpResponseMessage> PostAsync(
        TestServer server,
        string path,
        byte[] body,
        (string Name, string Value)? header = null
    )
    {
        using HttpClient http = new();
        using HttpRequestMessage request = new(HttpMethod.Post, new Uri($"http://127.0.0.1:{server.ControlPort}{path}"))
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = new ByteArrayContent(body),
        };
        request.Content.Headers.ContentType = MediaTypeHeaderValue.Parse("application/grpc");
        request.Headers.Add("te", "trailers");
        if (header is var (name, value))
            request.Headers.Add(name, value);
        return await http.SendAsync(request, Cancel);
    }

    private static async Task<string> StatusAsync(HttpResponseMessage response)
    {
        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        await response.Content.ReadAsByteArrayAsync(Cancel);
        return (
            response.Headers.TryGetValues("grpc-status", out IEnumerable<string>? status)
                ? status
                : response.TrailingHeaders.GetValues("grpc-status")
        ).Single();
    }
}

using System.Buffers.Binary;
using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Grpc.Core;
using LightQ.IntegrationTests.Grpc;
using LightQ.IntegrationTests.Json;
using LightQ.IntegrationTests.Security;
using LightQ.Protocol.Control;
using LightQ.Server.Control;
using LightQ.Server.Json;
using LightQ.Server.Security;
using Xunit;
using Right = LightQ.Broker.Users.Right;

namespace LightQ.IntegrationTests.Control;

/// <summary>
/// What a request may take of memory before anything is known of its sender, or of what it wants: the same as gRPC, as
/// gRPC-Web and in JSON.
/// </summary>
public sealed class RequestLimitTests
{
    private const string Login = "/lightq.control.v1.Auth/Login";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>Each rpc that is decided by the topic in its request.</summary>
    public static TheoryData<string> OfTopics => [.. RpcRules.All.Where(r => r.Value.HasTopic).Select(r => r.Key)];

    /// <summary>Each route whose path has the topic that decides.</summary>
    public static TheoryData<string> TopicRoutes =>
        [.. JsonRoutes.All.Where(r => r.HasBody && r.TopicField is not null).Select(r => r.Path)];

    [Fact]
    public async Task A_request_without_a_login_is_short_however_it_comes()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        byte[] prefix = new byte[5];
        BinaryPrimitives.WriteInt32BigEndian(prefix.AsSpan(1), RequestLimits.BytesBeforeLogin + 1);
        Assert.Equal("8", await BeginAsync(server, Login, prefix));
        Assert.Equal("8", await WebAsync(server, Login, "application/grpc-web+proto", prefix));
        JsonAnswer json = await server.SendAsync(
            "POST",
            "/v1/login",
            $$"""{"user": "admin", "password": "{{new string('x', RequestLimits.BytesBeforeLogin)}}"}"""
        );
        json.Refuses(413, "ResourceExhausted", "8192");
        JsonAnswer known = await server.SendAsync(
            "POST",
            "/v1/login",
            $$"""{"user": "admin", "password": "{{server.AdminPassword}}"}"""
        );
        Assert.Equal(200, known.Status);
    }

    [Fact]
    public async Task A_request_without_a_login_that_does_not_end_is_ended()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                RequireAuth = true,
                Http = new() { HeaderTimeout = TimeSpan.FromSeconds(1) },
            }
        );
        byte[] begun = new byte[1000];
        BinaryPrimitives.WriteInt32BigEndian(begun.AsSpan(1), 8000);
        Assert.Equal("4", await BeginAsync(server, Login, begun));
        Assert.Equal("4", await BeginAsync(server, Login, []));
        (HttpStatusCode status, string text) = await BeginJsonAsync(server, "POST", "/v1/login", null, 8000);
        Assert.Equal(HttpStatusCode.GatewayTimeout, status);
        Assert.Contains("Http:HeaderTimeout", text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Bodies_under_way_share_an_amount_of_memory_on_all_ports_and_give_it_back()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = new() { MaxAssemblyBytes = 1_000_000 },
            }
        );
        await server.CreateTopicAsync("orders");
        byte[] begun = BeginPublish("orders", 1_000_000, 400_000);
        await using Http2Peer first = await Http2Peer.ConnectAsync(server.ControlPort);
        await first.SendAsync([
            .. Http2Peer.Headers(1, Http2Peer.HeaderBlock("/lightq.control.v1.Messages/Publish")),
            .. Frames(1, begun),
        ]);
        await Eventually.TrueAsync(
            () => server.Server.Limits.Bodies.Taken >= 390_000,
            Patience,
            () => $"{server.Server.Limits.Bodies.Taken} bytes are counted"
        );
        Assert.Equal("8", await BeginAsync(server, "/lightq.control.v1.Messages/Publish", begun));
        (HttpStatusCode status, string text) = await BeginJsonAsync(
            server,
            "POST",
            "/v1/topics/orders:publish",
            null,
            500_000,
            new string(' ', 200_000)
        );
        Assert.Equal(HttpStatusCode.TooManyRequests, status);
        Assert.Contains("DataPlane:MaxAssemblyBytes", text, StringComparison.Ordinal);
        await first.DisposeAsync();
        await Eventually.TrueAsync(
            () => server.Server.Limits.Bodies.Taken == 0,
            Patience,
            () => $"{server.Server.Limits.Bodies.Taken} bytes are counted still"
        );
    }

    [Theory]
    [MemberData(nameof(OfTopics))]
    public async Task The_right_is_asked_for_when_the_topic_is_known_and_not_when_all_is_here(string method)
    {
        await using TestServer server = await TestServer.StartAsync();
        string mallory = Caller.Create(server, "mallory", (Right.Consume, "other")).Token!;
        byte[] begun = Begin(method, "orders", 1_000_000, 20_000);
        Assert.Equal("7", await BeginAsync(server, method, begun, ("authorization", $"Bearer {mallory}")));
        Assert.Equal("7", await WebAsync(server, method, "application/grpc-web+proto", begun, mallory, 1_000_000));
    }

    [Theory]
    [MemberData(nameof(TopicRoutes))]
    public async Task In_JSON_the_right_is_asked_for_before_the_body_is_read(string path)
    {
        await using TestServer server = await TestServer.StartAsync();
        string mallory = Caller.Create(server, "mallory", (Right.Consume, "other")).Token!;
        JsonRoute route = JsonRoutes.All.Single(r => r.Path == path);
        string address = route
            .Pattern.Replace("{topic}", "orders", StringComparison.Ordinal)
            .Replace("{name}", "orders", StringComparison.Ordinal)
            .Replace("{group}", "g", StringComparison.Ordinal);
        (HttpStatusCode status, _) = await BeginJsonAsync(server, route.Verb, address, mallory, 1_000_000);
        Assert.Equal(HttpStatusCode.Forbidden, status);
    }

    [Fact]
    public async Task A_request_of_very_many_elements_is_rejected_before_objects_are_made_of_it()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Http = new() { MaxRequestElements = 1000 },
            }
        );
        await server.CreateTopicAsync("orders");
        var request = new PublishRequest { Topic = "orders" };
        for (int i = 0; i < 3000; i++)
            request.Messages.Add(new PublishedMessage());
        RpcException refused = await Assert.ThrowsAsync<RpcException>(() =>
            server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", request)
        );
        Assert.Contains("Http:MaxRequestElements", refused.Status.Detail, StringComparison.Ordinal);
        Assert.Equal(
            "8",
            await WebAsync(
                server,
                "/lightq.control.v1.Messages/Publish",
                "application/grpc-web+proto",
                Http2Peer.Message(request)
            )
        );
        JsonAnswer json = await server.SendAsync(
            "POST",
            "/v1/topics/orders:publish",
            JsonFormatter.Default.Format(request)
        );
        json.Refuses(429, "ResourceExhausted", "Http:MaxRequestElements");
        Assert.Equal(3, server.Server.Limits.Refusals["Http:MaxRequestElements"]);
    }

    [Theory]
    [InlineData("!!!!")]
    [InlineData("AAA")]
    [InlineData("A===")]
    [InlineData("AAAAAA==AAAA=AAA")]
    public async Task A_body_that_is_no_Base64_is_the_clients_mistake_and_nothing_for_the_log(string text)
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        for (int i = 0; i < 20; i++)
        {
            Assert.Equal(
                "3",
                await WebAsync(server, Login, "application/grpc-web-text", Encoding.ASCII.GetBytes(text))
            );
        }
        Assert.DoesNotContain(server.Log.Lines, l => l.Level >= Microsoft.Extensions.Logging.LogLevel.Warning);
    }

    [Fact]
    public async Task A_Consume_that_its_client_resets_is_nothing_for_the_log()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        var subscribe = new ConsumeRequest
        {
            Subscribe = new Subscribe { Topic = "orders", Credit = 1 },
        };
        for (int i = 0; i < 100; i++)
        {
            await using Http2Peer peer = await Http2Peer.ConnectAsync(server.ControlPort);
            int stream = await peer.CallAsync("/lightq.control.v1.Messages/Consume", isLast: false, subscribe);
            if (i % 2 == 0)
                await peer.ReadAsync();
            await peer.ResetAsync(stream);
        }
        await server.Control.CallAsync<GetBrokerStatsRequest, GetBrokerStatsResponse>("GetBrokerStats", new());
        Assert.DoesNotContain(server.Log.Lines, l => l.Level >= Microsoft.Extensions.Logging.LogLevel.Error);
    }

    [Fact]
    public async Task Answers_in_JSON_are_not_to_be_taken_for_anything_else()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (string path in (string[])["/v1/topics", "/v1/topics/none", "/openapi/v1.json", "/metrics", "/", "/x"])
        {
            using HttpResponseMessage response = await server.Web.GetAsync(path, Cancel);
            Assert.Equal(["nosniff"], response.Headers.GetValues("X-Content-Type-Options"));
        }
    }

    private static byte[] BeginPublish(string topic, int length, int here) =>
        Begin("/lightq.control.v1.Messages/Publish", topic, length, here);

    /// <summary>The beginning of a long request, with its topic and an unknown field that is not whole.</summary>
    private static byte[] Begin(string method, string topic, int length, int here)
    {
        MethodDescriptor found = ControlServices
            .Shown()
            .SelectMany(s => s.Methods)
            .Single(m => $"/{m.Service.FullName}/{m.Name}" == method);
        IMessage request = found.InputType.Parser.ParseFrom(ByteString.Empty);
        IMessage naming = request;
        if (found.IsClientStreaming)
        {
            naming = found.InputType.Fields[1].MessageType.Parser.ParseFrom(ByteString.Empty);
            found.InputType.Fields[1].Accessor.SetValue(request, naming);
        }
        (naming.Descriptor.FindFieldByName("topic") ?? naming.Descriptor.FindFieldByName("name")).Accessor.SetValue(
            naming,
            topic
        );
        var bytes = new MemoryStream();
        bytes.Write([0, 0, 0, 0, 0]);
        request.WriteTo(bytes);
        using (var output = new CodedOutputStream(bytes, leaveOpen: true))
        {
            output.WriteTag(1000, WireFormat.WireType.LengthDelimited);
            output.WriteLength(length);
        }
        int whole = (int)bytes.Length - 5 + length;
        bytes.Write(new byte[here]);
        byte[] begun = bytes.ToArray();
        BinaryPrimitives.WriteInt32BigEndian(begun.AsSpan(1), whole);
        return begun;
    }

    private static IEnumerable<byte> Frames(int stream, byte[] bytes) =>
        bytes.Chunk(16_000).SelectMany(piece => Http2Peer.Frame(Http2FrameType.Data, 0, stream, piece));

    /// <summary>Begins a call, and hears how it ends without another byte.</summary>
    private static async Task<string> BeginAsync(
        TestServer server,
        string method,
        byte[] begun,
        params (string, string)[] headers
    )
    {
        using var client = new HttpClient(new SocketsHttpHandler()) { DefaultRequestVersion = HttpVersion.Version20 };
        using var request = new HttpRequestMessage(HttpMethod.Post, $"http://127.0.0.1:{server.ControlPort}{method}")
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = new Endless(begun, "application/grpc", null),
        };
        foreach ((string name, string value) in headers)
            request.Headers.TryAddWithoutValidation(name, value);
        request.Headers.TryAddWithoutValidation("te", "trailers");
        return await StatusAsync(client, request);
    }

    /// <summary>The same over gRPC-Web; a client of .NET would hear nothing before it has said all.</summary>
    private static async Task<string> WebAsync(
        TestServer server,
        string method,
        string type,
        byte[] body,
        string? token = null,
        int? length = null
    )
    {
        using TcpClient tcp = await SendRawAsync(server, "POST", method, type, token, length ?? body.Length, body);
        tcp.LingerState = new LingerOption(true, 0); // A client may reset its connection once it knows.
        using var reader = new StreamReader(tcp.GetStream());
        while (await reader.ReadLineAsync(Cancel) is { } line)
        {
            int at = line.IndexOf("grpc-status:", StringComparison.OrdinalIgnoreCase);
            if (at >= 0)
                return line[(at + "grpc-status:".Length)..].Trim();
        }
        return "";
    }

    private static async Task<TcpClient> SendRawAsync(
        TestServer server,
        string verb,
        string path,
        string type,
        string? token,
        int length,
        byte[] begun
    )
    {
        var tcp = new TcpClient();
        await tcp.ConnectAsync(IPAddress.Loopback, server.WebPort, Cancel);
        string authorization = token is null ? "" : $"Authorization: Bearer {token}\r\n";
        byte[] head = Encoding.ASCII.GetBytes(
            $"{verb} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {type}\r\n{authorization}"
                + $"Content-Length: {length}\r\n\r\n"
        );
        await tcp.GetStream().WriteAsync((byte[])[.. head, .. begun], Cancel);
        return tcp;
    }

    private static async Task<string> StatusAsync(HttpClient client, HttpRequestMessage request)
    {
        using HttpResponseMessage response = await client.SendAsync(
            request,
            HttpCompletionOption.ResponseHeadersRead,
            Cancel
        );
        if (response.Headers.TryGetValues("grpc-status", out IEnumerable<string>? status))
            return status.Single();
        byte[] end = await response.Content.ReadAsByteArrayAsync(Cancel);
        return response.TrailingHeaders.TryGetValues("grpc-status", out status)
            ? status.Single()
            : Encoding.UTF8.GetString(end).Split("grpc-status:")[^1].Split('\r')[0].Trim();
    }

    /// <summary>Begins a request, and hears what is answered without another byte.</summary>
    private static async Task<(HttpStatusCode Status, string Text)> BeginJsonAsync(
        TestServer server,
        string verb,
        string path,
        string? token,
        int length,
        string begun = "{"
    )
    {
        using TcpClient tcp = await SendRawAsync(
            server,
            verb,
            path,
            "application/json",
            token,
            length,
            Encoding.ASCII.GetBytes(begun)
        );
        using var reader = new StreamReader(tcp.GetStream());
        string first = (await reader.ReadLineAsync(Cancel))!;
        string? header;
        int bytes = 0;
        while ((header = await reader.ReadLineAsync(Cancel)) is { Length: not 0 })
        {
            if (header.StartsWith("Content-Length: ", StringComparison.OrdinalIgnoreCase))
                bytes = int.Parse(header.AsSpan("Content-Length: ".Length), CultureInfo.InvariantCulture);
        }
        string? chunk = bytes == 0 ? await reader.ReadLineAsync(Cancel) : null; // An error is one chunk.
        if (chunk is not null)
            bytes = int.Parse(chunk, NumberStyles.HexNumber, CultureInfo.InvariantCulture);
        char[] text = new char[bytes];
        int read = await reader.ReadBlockAsync(text, Cancel);
        return (
            (HttpStatusCode)int.Parse(first.Split(' ')[1], CultureInfo.InvariantCulture),
            new string(text, 0, read)
        );
    }

    /// <summary>A body that does not end before the call does.</summary>
    private sealed class Endless : HttpContent
    {
        private readonly byte[] _begun;
        private readonly int? _length;

        public Endless(byte[] begun, string type, int? length)
        {
            (_begun, _length) = (begun, length);
            Headers.ContentType = new MediaTypeHeaderValue(type);
        }

        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            await stream.WriteAsync(_begun, Cancel);
            await stream.FlushAsync(Cancel);
            await Task.Delay(Timeout.Infinite, Cancel).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        protected override Task SerializeToStreamAsync(
            Stream stream,
            TransportContext? context,
            CancellationToken cancellationToken
        ) => SerializeAsync(stream, cancellationToken);

        protected override bool TryComputeLength(out long length)
        {
            length = _length ?? 0;
            return _length is not null;
        }

        private async Task SerializeAsync(Stream stream, CancellationToken cancelled)
        {
            await stream.WriteAsync(_begun, cancelled);
            await stream.FlushAsync(cancelled);
            await Task.Delay(Timeout.Infinite, cancelled).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}

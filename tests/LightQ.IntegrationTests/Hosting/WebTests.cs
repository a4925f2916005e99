using System.Net;
using System.Net.Sockets;
using System.Text;
using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using Xunit;
using TopicKind = LightQ.Protocol.Control.TopicKind;

namespace LightQ.IntegrationTests.Hosting;

public sealed class WebTests
{
    [Theory]
    [InlineData("/healthz/live", "live\n")]
    [InlineData("/healthz/ready", "ready\n")]
    public async Task A_ready_server_says_so(string page, string text)
    {
        await using TestServer server = await TestServer.StartAsync();
        Assert.Equal(text, await server.Web.GetStringAsync(page, TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task The_index_names_the_pages_and_other_paths_are_not_found()
    {
        await using TestServer server = await TestServer.StartAsync();
        Assert.Contains(
            "/metrics",
            await server.Web.GetStringAsync("/", TestContext.Current.CancellationToken),
            StringComparison.Ordinal
        );
        using HttpResponseMessage missing = await server.Web.GetAsync("/none", TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.NotFound, missing.StatusCode);
        using HttpResponseMessage post = await server.Web.PostAsync(
            "/metrics",
            null,
            TestContext.Current.CancellationToken
        );
        Assert.Equal(HttpStatusCode.MethodNotAllowed, post.StatusCode);
    }

    [Fact]
    public async Task Metrics_have_a_sample_for_every_topic_and_for_the_process()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        await TopicsTests.CreateAsync(server, "bills", new TopicSettings { Kind = TopicKind.Durable });
        using HttpResponseMessage response = await server.Web.GetAsync(
            "/metrics",
            TestContext.Current.CancellationToken
        );
        Assert.Equal("text/plain; version=0.0.4; charset=utf-8", response.Content.Headers.ContentType?.ToString());
        string[] lines = (await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken)).Split('\n');
        Assert.Contains("lightq_topics 2", lines);
        Assert.Contains("lightq_ready 1", lines);
        Assert.Contains("lightq_topic_messages_received_total{topic=\"orders\"} 0", lines);
        Assert.Contains("lightq_topic_failed{topic=\"bills\"} 0", lines);
        Assert.Contains(lines, l => l.StartsWith("process_resident_memory_bytes ", StringComparison.Ordinal));
        Assert.Equal("", lines[^1]);
    }

    [Fact]
    public async Task Two_headers_Authorization_are_refused_though_one_of_them_is_right()
    {
        await using TestServer server = await TestServer.StartAsync();
        string right =
            $"Authorization: Basic "
            + $"{Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{server.AdminPassword}"))}\r\n";
        Assert.StartsWith(
            "HTTP/1.1 200",
            await AskAsync(server, "/metrics", "localhost", right),
            StringComparison.Ordinal
        );
        Assert.StartsWith(
            "HTTP/1.1 401",
            await AskAsync(server, "/metrics", "localhost", right + right),
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("/metrics")]
    [InlineData("/healthz/ready")]
    [InlineData("/")]
    [InlineData("/none")]
    public async Task A_page_of_an_open_broker_is_refused_under_the_name_of_another_host(string page)
    {
        await using TestServer server = await TestServer.StartAsync();
        string answer = await AskAsync(server, page, "rebound.example");
        Assert.StartsWith("HTTP/1.1 421", answer, StringComparison.Ordinal);
        Assert.Contains("Http:AllowedHosts", answer, StringComparison.Ordinal);
        foreach (
            string? host in new[]
            {
                "localhost",
                "LOCALHOST:5702",
                "a.localhost",
                "127.0.0.1:80",
                "10.1.2.3",
                "[::1]:5702",
                null,
            }
        )
        {
            Assert.DoesNotContain("421", (await AskAsync(server, page, host)).Split('\n')[0], StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task The_names_of_a_setting_are_allowed_and_where_a_login_is_required_any()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Http = new() { AllowedHosts = "lightq, *.example" },
            }
        );
        Assert.StartsWith("HTTP/1.1 200", await AskAsync(server, "/metrics", "lightq:5702"), StringComparison.Ordinal);
        Assert.StartsWith("HTTP/1.1 200", await AskAsync(server, "/metrics", "any.example"), StringComparison.Ordinal);
        Assert.StartsWith("HTTP/1.1 421", await AskAsync(server, "/metrics", "example"), StringComparison.Ordinal);
        // From now on everybody logs in.
        await server.Control.CallAsync<CreateUserRequest, CreateUserResponse>("CreateUser", new() { Name = "alice" });
        Assert.StartsWith("HTTP/1.1 200", await AskAsync(server, "/metrics", "example"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_JSON_protocol_is_refused_under_the_name_of_another_host()
    {
        await using TestServer server = await TestServer.StartAsync();
        using var request = new HttpRequestMessage(HttpMethod.Post, "/admin")
        {
            Content = new StringContent("{}"),
            Headers = { Host = "rebound.example" },
        };
        using HttpResponseMessage response = await server.Web.SendAsync(request, TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.MisdirectedRequest, response.StatusCode);
    }

    [Fact]
    public async Task A_damaged_topic_degrades_the_server_and_the_others_are_served()
    {
        await using TestServer server = await TestServer.StartAsync();
        Topic damaged = await TopicsTests.CreateAsync(
            server,
            "damaged",
            new TopicSettings { Kind = TopicKind.Durable }
        );
        await TopicsTests.CreateAsync(server, "healthy", new TopicSettings { Kind = TopicKind.Durable });
        await using (var client = new LightQClient(server.ConnectionString))
        await using (
            Producer producer = await client.CreateProducerAsync(
                "damaged",
                cancellationToken: TestContext.Current.CancellationToken
            )
        )
        {
            await producer.PublishAsync(new byte[1000], cancellationToken: TestContext.Current.CancellationToken);
        }

        await server.RestartAsync(() =>
        {
            foreach (
                string file in Directory.EnumerateFiles(
                    Path.Combine(server.Directory, "topics", damaged.Id),
                    "*.seg",
                    SearchOption.AllDirectories
                )
            )
            {
                File.WriteAllBytes(file, [.. Enumerable.Repeat((byte)0xFF, 8192)]);
            }
        });
        Assert.Equal(
            "ready, degraded: 1 of 2 topics have failed\n",
            await server.Web.GetStringAsync("/healthz/ready", TestContext.Current.CancellationToken)
        );
        string metrics = await server.Web.GetStringAsync("/metrics", TestContext.Current.CancellationToken);
        Assert.Contains("lightq_topic_failed{topic=\"damaged\"} 1\n", metrics, StringComparison.Ordinal);
        Assert.Contains("lightq_topic_failed{topic=\"healthy\"} 0\n", metrics, StringComparison.Ordinal);
        GetTopicResponse got = await server.Control.CallAsync<GetTopicRequest, GetTopicResponse>(
            "GetTopic",
            new() { Name = "damaged" }
        );
        Assert.NotEmpty(got.Topic.Failure);
        Assert.DoesNotContain(server.Directory, got.Topic.Failure, StringComparison.Ordinal);
        Assert.Contains(
            server.Directory,
            Assert.Single(
                server.Log.Errors,
                e => e.StartsWith("Topic damaged takes no messages", StringComparison.Ordinal)
            ),
            StringComparison.Ordinal
        );
        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<TruncateTopicRequest, TruncateTopicResponse>(
                    "TruncateTopic",
                    new() { Name = "damaged" }
                ),
            StatusCode.DataLoss,
            "CorruptData"
        );
    }

    [Fact]
    public async Task A_gRPC_client_on_the_web_port_gets_an_error_at_once()
    {
        await using TestServer server = await TestServer.StartAsync();
        using var wrong = GrpcChannel.ForAddress($"http://127.0.0.1:{server.WebPort}");
        RpcException error = await Assert.ThrowsAsync<RpcException>(() =>
            wrong
                .CallAsync<ListTopicsRequest, ListTopicsResponse>("ListTopics", new())
                .WaitAsync(TimeSpan.FromSeconds(10), TestContext.Current.CancellationToken)
        );
        Assert.NotEqual(StatusCode.OK, error.StatusCode);
    }

    [Fact]
    public async Task A_browser_on_the_control_port_gets_an_error_in_words()
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await server.Web.GetAsync(
            new Uri($"http://127.0.0.1:{server.ControlPort}/"),
            TestContext.Current.CancellationToken
        );
        Assert.Equal(HttpStatusCode.BadRequest, response.StatusCode);
        Assert.Contains(
            "HTTP/2",
            await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_page_asked_for_over_HTTP_2_on_the_control_port_is_told_where_it_is()
    {
        await using TestServer server = await TestServer.StartAsync();
        using var request = new HttpRequestMessage(HttpMethod.Get, $"http://127.0.0.1:{server.ControlPort}/metrics")
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
        using HttpResponseMessage response = await server.Web.SendAsync(request, TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.UnsupportedMediaType, response.StatusCode);
        Assert.Contains(
            $"port {server.WebPort}",
            await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_browser_on_the_data_port_is_cut_off()
    {
        await using TestServer server = await TestServer.StartAsync();
        await Assert.ThrowsAnyAsync<HttpRequestException>(() =>
            server
                .Web.GetAsync(new Uri($"http://127.0.0.1:{server.DataPort}/"), TestContext.Current.CancellationToken)
                .WaitAsync(TimeSpan.FromSeconds(10), TestContext.Current.CancellationToken)
        );
    }

    /// <summary>Asks for a page as no library would.</summary>
    private static async Task<string> AskAsync(TestServer server, string page, string? host, string headers = "")
    {
        using var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, server.WebPort, TestContext.Current.CancellationToken);
        string request =
            $"GET {page} "
            + $"HTTP/{(host is null ? "1.0" : "1.1")}\r\n{(host is null ? "" : $"Host: {host}\r\n")}Connection: "
            + $"close\r\n{headers}\r\n";
        await client.GetStream().WriteAsync(Encoding.ASCII.GetBytes(request), TestContext.Current.CancellationToken);
        using var answer = new StreamReader(client.GetStream());
        return await answer.ReadToEndAsync(TestContext.Current.CancellationToken);
    }
}

using System.Net;
using LightQ.Grpc;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using Xunit;

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
        Assert.Contains("/metrics", await server.Web.GetStringAsync("/", TestContext.Current.CancellationToken), StringComparison.Ordinal);
        using HttpResponseMessage missing = await server.Web.GetAsync("/none", TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.NotFound, missing.StatusCode);
        using HttpResponseMessage post = await server.Web.PostAsync("/metrics", null, TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.MethodNotAllowed, post.StatusCode);
    }

    [Fact]
    public async Task Metrics_have_a_sample_for_every_topic_and_for_the_process()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        await TopicsTests.CreateAsync(server, "bills", new TopicSettings { Kind = TopicKind.Durable });
        using HttpResponseMessage response = await server.Web.GetAsync("/metrics", TestContext.Current.CancellationToken);
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
    public async Task A_gRPC_client_on_the_web_port_gets_an_error_at_once()
    {
        await using TestServer server = await TestServer.StartAsync();
        using var wrong = new GrpcChannel(new Uri($"http://127.0.0.1:{server.WebPort}"));
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(
            () => wrong.CallAsync<ListTopicsRequest, ListTopicsResponse>("ListTopics", new()).WaitAsync(TimeSpan.FromSeconds(10), TestContext.Current.CancellationToken));
        Assert.NotEqual(GrpcStatusCode.Ok, error.Status.Code);
    }

    [Fact]
    public async Task A_browser_on_the_control_port_gets_an_error_in_words()
    {
        await using TestServer server = await TestServer.StartAsync();
        using HttpResponseMessage response = await server.Web.GetAsync(new Uri($"http://127.0.0.1:{server.ControlPort}/"), TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.BadRequest, response.StatusCode);
        Assert.Contains("HTTP/2", await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken), StringComparison.Ordinal);
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
        Assert.Contains($"port {server.WebPort}", await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_browser_on_the_data_port_is_cut_off()
    {
        await using TestServer server = await TestServer.StartAsync();
        await Assert.ThrowsAnyAsync<HttpRequestException>(
            () => server.Web.GetAsync(new Uri($"http://127.0.0.1:{server.DataPort}/"), TestContext.Current.CancellationToken)
                .WaitAsync(TimeSpan.FromSeconds(10), TestContext.Current.CancellationToken));
    }
}

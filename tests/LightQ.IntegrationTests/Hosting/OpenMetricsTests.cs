using LightQ.Client;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>What <c>/metrics</c> answers in, and that it keeps the rules of OpenMetrics.</summary>
public sealed class OpenMetricsTests
{
    private const string Open = "application/openmetrics-text",
        Plain = "text/plain";

    [Fact]
    public async Task The_page_keeps_the_rules_of_OpenMetrics()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await foreach (Message _ in Published(client))
            break;
        OpenMetricsPage page = OpenMetricsPage.Parse(await OpenMetricsPage.AskAsync(server.Web));
        Assert.Equal("counter", page.Families["lightq_topic_received_bytes"]);
        Assert.Equal("gauge", page.Families["lightq_topic_stored_bytes"]);
        Assert.Equal(1, page.Samples["lightq_topic_messages_received_total{topic=\"orders\"}"]);
        Assert.Contains("lightq_group_lag_messages{topic=\"orders\",group=\"billing\"}", page.Samples.Keys);
        Assert.InRange(page.Samples["process_cpu_seconds_total"], 0, double.MaxValue);
    }

    [Theory]
    [InlineData(null, Plain)]
    [InlineData("*/*", Plain)]
    [InlineData("text/plain;version=0.0.4", Plain)]
    [InlineData("application/openmetrics-text", Open)]
    [InlineData("application/openmetrics-text; version=1.0.0", Open)]
    [InlineData("application/openmetrics-text; version=0.0.1", Plain)]
    [InlineData("application/openmetrics-text; version=2.0.0, text/plain", Plain)]
    [InlineData("application/openmetrics-text; q=0", Plain)]
    [InlineData("application/openmetrics-text; q=0.2, text/plain; q=0.5", Plain)]
    [InlineData("application/openmetrics-text; version=1.0.0; q=0.5, text/plain; q=0.5", Open)]
    [InlineData("APPLICATION/OpenMetrics-Text;version=\"1.0.0\"", Open)]
    [InlineData("not a media type", Plain)]
    public async Task Accept_chooses_the_format(string? accept, string expected)
    {
        await using TestServer server = await TestServer.StartAsync();
        using var request = new HttpRequestMessage(HttpMethod.Get, "/metrics");
        if (accept is not null)
            request.Headers.TryAddWithoutValidation("Accept", accept);
        using HttpResponseMessage response = await server.Web.SendAsync(request, TestContext.Current.CancellationToken);
        Assert.Equal(expected, response.Content.Headers.ContentType?.MediaType);
        Assert.Contains("Accept", response.Headers.Vary);
        string text = await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        Assert.Equal(expected == Open, text.EndsWith("# EOF\n", StringComparison.Ordinal));
    }

    private static async IAsyncEnumerable<Message> Published(LightQClient client)
    {
        await using (
            Producer producer = await client.CreateProducerAsync(
                "orders",
                cancellationToken: TestContext.Current.CancellationToken
            )
        )
        {
            await producer.PublishAsync("one"u8, cancellationToken: TestContext.Current.CancellationToken);
        }

        await foreach (
            Message message in client
                .ConsumeAsync("orders", new ConsumeOptions { Group = "billing" })
                .WithCancellation(TestContext.Current.CancellationToken)
        )
        {
            yield return message;
        }
    }
}

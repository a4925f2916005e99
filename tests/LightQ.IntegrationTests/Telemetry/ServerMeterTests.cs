using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Net;
using LightQ.Client;
using LightQ.IntegrationTests.Hosting;
using LightQ.Server;
using LightQ.Server.Telemetry;
using Xunit;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>A broker under listeners of the program that it is in.</summary>
[Collection(TelemetryCollection.Name)]
public sealed class ServerMeterTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_meter_says_what_the_page_says()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using (var client = new LightQClient(server.ConnectionString))
        {
            var spec = new TopicSpec("orders") { Kind = TopicKind.Durable, Partitions = 2 };
            await client.Topics.CreateAsync(spec, Cancelled);
            await using (Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled))
                await producer.PublishAsync("one"u8, cancellationToken: Cancelled);
            var options = new ConsumeOptions { Group = "billing" };
            await foreach (Message message in client.ConsumeAsync("orders", options, Cancelled))
                break;
        }
        await server.ConnectionsAsync(0);
        Dictionary<string, double> measured = Collect(server.DataPort);
        OpenMetricsPage page = OpenMetricsPage.Parse(await OpenMetricsPage.AskAsync(server.Web));

        Assert.Equal(
            Figures
                .OfBroker.Where(f => !f.Name.Contains("tls", StringComparison.Ordinal))
                .Except(ClusterFigureList.All)
                .Select(f => f.Family)
                .Except(["lightq_topic_retention_messages", "lightq_user_token_end_seconds"])
                .Order(),
            page.Families.Keys.Where(f => f.StartsWith("lightq_", StringComparison.Ordinal)).Order()
        );
        Assert.Equal(
            page.Samples.Keys.Where(k => k.StartsWith("lightq_", StringComparison.Ordinal))
                .Order(StringComparer.Ordinal),
            measured.Keys.Order(StringComparer.Ordinal)
        );
        // What goes on by itself meanwhile is another each time.
        Assert.All(
            measured.Where(m =>
                !m.Key.Contains("oldest", StringComparison.Ordinal)
                && !m.Key.Contains("disk_free", StringComparison.Ordinal)
                && !m.Key.Contains("scrub", StringComparison.Ordinal)
            ),
            m => Assert.Equal((m.Key, page.Samples[m.Key]), (m.Key, m.Value))
        );
        Assert.Equal(1, measured["lightq_topic_messages_received_total{topic=\"orders\"}"]);
    }

    [Fact]
    public async Task Each_collection_reads_anew_and_a_broker_that_is_gone_has_no_instruments()
    {
        int port;
        await using (TestServer server = await TestServer.StartAsync())
        {
            port = server.DataPort;
            Assert.Equal(0, Collect(port)["lightq_topics"]);
            await server.CreateTopicAsync("orders");
            using MeterListener listener = Listen(port, out ConcurrentDictionary<string, double> measured);
            listener.RecordObservableInstruments();
            Assert.Equal(1, measured["lightq_topics"]);
            await server.CreateTopicAsync("bills");
            listener.RecordObservableInstruments();
            Assert.Equal(2, measured["lightq_topics"]);
        }
        Assert.Empty(Collect(port));
    }

    [Fact]
    public async Task A_call_is_a_span_under_its_callers_and_what_is_no_call_of_ours_has_no_name_in_it()
    {
        var ended = new ConcurrentQueue<Activity>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == LightQServerTelemetry.ActivitySourceName,
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = ended.Enqueue,
        };
        ActivitySource.AddActivityListener(listener);
        await using TestServer server = await TestServer.StartAsync();
        var caller = new ActivityContext(
            ActivityTraceId.CreateRandom(),
            ActivitySpanId.CreateRandom(),
            ActivityTraceFlags.Recorded
        );
        using var http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{server.ControlPort}") };
        Activity listed = await SpanOf(http, ended, "/lightq.control.v1.Topics/ListTopics", caller);
        Assert.Equal(
            (caller.TraceId, caller.SpanId, true),
            (listed.TraceId, listed.ParentSpanId, listed.HasRemoteParent)
        );
        Assert.Equal(
            ("lightq.control.v1.Topics/ListTopics", ActivityKind.Server, ActivityStatusCode.Unset),
            (listed.DisplayName, listed.Kind, listed.Status)
        );
        Assert.Equal(0, listed.GetTagItem("rpc.grpc.status_code"));
        Activity unknown = await SpanOf(http, ended, "/made.up.Secret/Name", caller);
        Assert.Equal(
            ("_OTHER", "_OTHER", ActivityStatusCode.Error),
            (unknown.DisplayName, unknown.GetTagItem("rpc.method"), unknown.Status)
        );
        Assert.Equal(12, unknown.GetTagItem("rpc.grpc.status_code"));
        Assert.DoesNotContain(unknown.TagObjects, tag => $"{tag.Value}".Contains("Secret", StringComparison.Ordinal));
    }

    private static async Task<Activity> SpanOf(
        HttpClient http,
        ConcurrentQueue<Activity> ended,
        string path,
        ActivityContext caller
    )
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, path)
        {
            Content = new ByteArrayContent(new byte[5]),
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
        request.Content.Headers.ContentType = new("application/grpc");
        request.Headers.TE.Add(new("trailers"));
        request.Headers.Add("traceparent", $"00-{caller.TraceId}-{caller.SpanId}-01");
        (await http.SendAsync(request, Cancelled)).Dispose();
        await Eventually.TrueAsync(() => !ended.IsEmpty, TimeSpan.FromSeconds(30), () => "There is no span.");
        Assert.True(ended.TryDequeue(out Activity? span));
        return span;
    }

    private static Dictionary<string, double> Collect(int port)
    {
        using MeterListener listener = Listen(port, out ConcurrentDictionary<string, double> measured);
        listener.RecordObservableInstruments();
        return new(measured);
    }

    /// <summary>Measurements by the name and labels that the page has for them.</summary>
    private static MeterListener Listen(int port, out ConcurrentDictionary<string, double> measured)
    {
        var found = measured = new();
        var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (
                    instrument.Meter.Name == LightQServerTelemetry.MeterName
                    && instrument.Meter.Tags!.Single() is { Key: "server.port", Value: int of }
                    && of == port
                )
                {
                    self.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<double>(
            (instrument, value, tags, _) =>
            {
                Figure figure = Figures.OfBroker.Single(f => f.Name == instrument.Name);
                Assert.Equal((figure.Unit, figure.Help), (instrument.Unit ?? "", instrument.Description));
                string labels = string.Join(',', tags.ToArray().Select(tag => $"{tag.Key}=\"{tag.Value}\""));
                found[
                    figure.Family
                        + (figure.Kind == FigureKind.Counter ? "_total" : "")
                        + (labels.Length == 0 ? "" : $"{{{labels}}}")
                ] = value;
            }
        );
        listener.Start();
        return listener;
    }
}

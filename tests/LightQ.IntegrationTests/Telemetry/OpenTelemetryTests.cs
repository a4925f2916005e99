using System.Diagnostics;
using LightQ.Client;
using OpenTelemetry;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using Xunit;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>The client under OpenTelemetry's own SDK.</summary>
[Collection(TelemetryCollection.Name)]
public sealed class OpenTelemetryTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Exporters_get_one_trace_from_publisher_to_consumer_and_the_metrics()
    {
        var traces = new KeepingExporter<Activity>();
        var metrics = new KeepingExporter<Metric>();
        using TracerProvider tracing = Sdk.CreateTracerProviderBuilder()
            .AddLightQInstrumentation()
            .AddSource(RecordedSpans.Application.Name)
            .AddProcessor(new SimpleActivityExportProcessor(traces))
            .Build();
        using MeterProvider metering = Sdk.CreateMeterProviderBuilder()
            .AddLightQInstrumentation()
            .AddReader(new BaseExportingMetricReader(metrics))
            .Build();
        await using TestServer server = await TestServer.StartAsync();
        await using var publisher = new LightQClient(server.ConnectionString);
        await using var consumer = new LightQClient(server.ConnectionString);
        await publisher.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
        await using (Producer producer = await publisher.CreateProducerAsync("orders", cancellationToken: Cancelled))
        {
            using Activity? order = RecordedSpans.Application.StartActivity("order");
            await producer.PublishAsync("one"u8, cancellationToken: Cancelled);
        }
        await foreach (
            Message message in consumer.ConsumeAsync(
                "orders",
                new ConsumeOptions { Group = "billing", SettleMode = SettleMode.Explicit },
                Cancelled
            )
        )
        {
            Assert.True(message.TryGetTraceContext(out ActivityContext context));
            using (RecordedSpans.Application.StartActivity("bill", ActivityKind.Consumer, context))
                await message.CompleteAsync(Cancelled);
            break;
        }
        Assert.True(metering.ForceFlush());

        Activity[] trace = [.. traces.Kept.Where(span => span.DisplayName != "receive orders")];
        Assert.Equal(["send orders", "order", "complete orders", "bill"], trace.Select(span => span.DisplayName));
        Assert.Single(trace.Select(span => span.TraceId).Distinct());
        Activity receive = Assert.Single(traces.Kept, span => span.DisplayName == "receive orders");
        Assert.Equal(trace[0].SpanId, Assert.Single(receive.Links).Context.SpanId);
        Assert.Equal(
            [
                "messaging.client.consumed.messages",
                "messaging.client.operation.duration",
                "messaging.client.sent.messages",
            ],
            metrics.Kept.Select(metric => metric.Name).Order()
        );
        foreach (Metric counter in metrics.Kept.Where(metric => metric.MetricType == MetricType.LongSum))
        {
            foreach (ref readonly MetricPoint point in counter.GetMetricPoints())
                Assert.Equal(1, point.GetSumLong());
        }
        foreach (
            ref readonly MetricPoint point in metrics
                .Kept.Single(metric => metric.MetricType == MetricType.Histogram)
                .GetMetricPoints()
        )
        {
            Assert.Equal(1, point.GetHistogramCount());
        }
    }

    /// <summary>Keeps what it is given.</summary>
    private sealed class KeepingExporter<T> : BaseExporter<T>
        where T : class
    {
        private readonly Lock _gate = new();
        private readonly List<T> _kept = [];

        public T[] Kept
        {
            get
            {
                lock (_gate)
                    return [.. _kept];
            }
        }

        public override ExportResult Export(in Batch<T> batch)
        {
            lock (_gate)
            {
                foreach (T item in batch)
                    _kept.Add(item);
            }
            return ExportResult.Success;
        }
    }
}

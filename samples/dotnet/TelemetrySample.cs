using System.Diagnostics;
using LightQ.Client;

namespace LightQ.Samples;

/// <summary>
/// One trace from the publisher to the consumer. A program adds OpenTelemetry instead of this listener. See
/// docs/use/telemetry.md.
/// </summary>
internal static class TelemetrySample
{
    public static async Task RunAsync(LightQClient client)
    {
        using var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == LightQTelemetry.ActivitySourceName,
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = activity => Console.WriteLine($"span: {activity.DisplayName}, {activity.Kind}"),
        };
        ActivitySource.AddActivityListener(listener);

        await client.Topics.EnsureAsync(new TopicSpec("orders"));
        await using Producer producer = await client.CreateProducerAsync("orders");
        await using MessageConsumer consumer = client.CreateConsumer(
            "orders",
            new() { Start = StartPosition.Earliest }
        );
        using (Activity request = new Activity("checkout").Start())
        {
            await producer.PublishAsync("order 1"u8);
            Message order = (await consumer.FetchAsync(1, TimeSpan.FromSeconds(30)))[0];
            order.TryGetTraceContext(out ActivityContext publisher);
            Console.WriteLine($"same trace: {publisher.TraceId == request.TraceId}");
        }
    }
}

using System.Diagnostics.Metrics;
using LightQ.Client;
using Xunit;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>What the client's instruments measure.</summary>
[Collection(TelemetryCollection.Name)]
public sealed class MetricsTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Messages_are_counted_and_operations_timed_batch_by_batch()
    {
        const int Messages = 1000;
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, Partitions = 2 },
            Cancelled
        );
        using var measurements = new RecordedMeasurements();
        await using (Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled))
        {
            for (int i = 0; i < Messages; )
            {
                if (producer.TryPublish("x"u8, $"{i}"))
                    i++;
                else
                    await producer.WaitForRoomAsync(Cancelled);
            }
            await producer.FlushAsync(Cancelled);
            using BatchBuilder batch = producer.CreateBatch(partition: 1);
            Assert.True(batch.TryAdd("y"u8));
            await producer.PublishAsync(batch, Cancelled);
        }
        int received = 0;
        await foreach (
            MessageBatch batch in client.ConsumeBatchesAsync(
                "orders",
                new ConsumeOptions { Group = "billing", SettleMode = SettleMode.Explicit },
                Cancelled
            )
        )
        {
            await batch.CompleteAsync(Cancelled);
            if ((received += batch.Count) == Messages + 1)
                break;
        }

        var sent = measurements.Of("messaging.client.sent.messages", "send");
        var consumed = measurements.Of("messaging.client.consumed.messages", "receive");
        var settled = measurements.Of("messaging.client.operation.duration", "complete");
        var durations = measurements.Of("messaging.client.operation.duration", "send");
        Assert.Equal(Messages + 1, sent.Sum(m => m.Value));
        Assert.Equal(sent.Length, durations.Length);
        Assert.InRange(sent.Length, 3, Messages);
        Assert.Equal(Messages + 1, consumed.Sum(m => m.Value));
        Assert.Equal(consumed.Length, settled.Length);
        Assert.All(durations.Concat(settled), m => Assert.InRange(m.Value, double.Epsilon, 60));
        Assert.Equal(
            ["0", "1"],
            sent.Select(m => m.Attributes["messaging.destination.partition.id"]).Distinct().Order()
        );
        Assert.Equal(
            new SortedDictionary<string, object?>
            {
                ["messaging.system"] = "lightq",
                ["messaging.operation.name"] = "send",
                ["messaging.operation.type"] = "send",
                ["messaging.destination.name"] = "orders",
                ["messaging.destination.partition.id"] = "1",
                ["server.address"] = "127.0.0.1",
                ["server.port"] = server.DataPort,
            },
            new SortedDictionary<string, object?>(sent[^1].Attributes)
        );
        Assert.All(
            consumed.Concat(settled),
            m => Assert.Equal("billing", m.Attributes["messaging.consumer.group.name"])
        );
        Assert.Equal(
            ("{message}", "{message}"),
            (
                measurements.Instrument("messaging.client.sent.messages").Unit,
                measurements.Instrument("messaging.client.consumed.messages").Unit
            )
        );
        var duration = Assert.IsType<Histogram<double>>(measurements.Instrument("messaging.client.operation.duration"));
        Assert.Equal(
            ("s", 0.005, 10),
            (
                duration.Unit,
                duration.Advice?.HistogramBucketBoundaries?[0],
                duration.Advice?.HistogramBucketBoundaries?[^1]
            )
        );
    }

    [Fact]
    public async Task What_the_broker_refuses_is_counted_with_the_error_and_what_was_never_sent_is_not()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Broker = o.Broker with { MaxDelayedBatches = 1 },
            }
        );
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders"), Cancelled);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        var later = new PublishOptions { Delay = TimeSpan.FromMinutes(1) };
        await producer.PublishAsync("w"u8.ToArray(), later, cancellationToken: Cancelled);
        using var measurements = new RecordedMeasurements();
        using var spans = new RecordedSpans();
        LightQException refused = await Assert.ThrowsAsync<LightQException>(async () =>
            await producer.PublishAsync("x"u8.ToArray(), later, cancellationToken: Cancelled)
        );
        Assert.Equal(ErrorCode.ResourceExhausted, refused.Code);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () =>
            await producer.PublishAsync("z"u8.ToArray(), cancellationToken: new CancellationToken(canceled: true))
        );

        (double value, Dictionary<string, object?> attributes) = Assert.Single(
            measurements.Of("messaging.client.sent.messages", "send")
        );
        Assert.Equal((1, "ResourceExhausted"), (value, attributes["error.type"]));
        (_, attributes) = Assert.Single(measurements.Of("messaging.client.operation.duration", "send"));
        Assert.Equal("ResourceExhausted", attributes["error.type"]);
        Assert.Equal(2, spans.Named("send orders").Length);
        Assert.Equal("ResourceExhausted", spans.Named("send orders")[0].GetTagItem("error.type"));
        Assert.EndsWith("CanceledException", (string?)spans.Named("send orders")[1].GetTagItem("error.type"));
    }
}

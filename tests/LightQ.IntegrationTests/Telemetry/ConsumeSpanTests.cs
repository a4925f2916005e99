using System.Collections.Concurrent;
using System.Diagnostics;
using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>Spans of consumers: receive, settle and process.</summary>
[Collection(TelemetryCollection.Name)]
public sealed class ConsumeSpanTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Settlements_have_spans_that_belong_to_the_trace_of_their_message()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        using var spans = new RecordedSpans();
        await PublishAsync(client, "one", "two", "three");
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync(
                "orders",
                new ConsumeOptions { Group = "billing", SettleMode = SettleMode.Explicit },
                Cancelled
            )
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await messages.MoveNextAsync());
        Message first = messages.Current;
        Assert.True(first.TryGetTraceContext(out ActivityContext published));
        await first.RenewLockAsync(Cancelled);
        await first.CompleteAsync(Cancelled);
        Assert.Equal(SettleOutcome.Unknown, await first.CompleteAsync(Cancelled));
        Assert.True(await messages.MoveNextAsync());
        await messages.Current.AbandonAsync(TimeSpan.FromMinutes(1), cancellationToken: Cancelled);
        Assert.True(await messages.MoveNextAsync());
        using (RecordedSpans.Application.StartActivity("bill"))
            await messages.Current.DeadLetterAsync("no price", Cancelled);

        Activity[] completed = spans.Named("complete orders");
        Assert.Equal(2, completed.Length);
        Assert.All(
            completed,
            span => Assert.Equal((ActivityKind.Client, published.SpanId), (span.Kind, span.ParentSpanId))
        );
        Assert.All(completed, span => Assert.Equal(published, Assert.Single(span.Links).Context));
        Assert.Equal(
            new SortedDictionary<string, object?>
            {
                ["messaging.system"] = "lightq",
                ["messaging.operation.name"] = "complete",
                ["messaging.operation.type"] = "settle",
                ["messaging.destination.name"] = "orders",
                ["messaging.destination.partition.id"] = "0",
                ["messaging.consumer.group.name"] = "billing",
                ["messaging.message.id"] = "0/0",
                ["server.address"] = "127.0.0.1",
                ["server.port"] = server.DataPort,
            },
            new SortedDictionary<string, object?>(completed[0].TagObjects.ToDictionary())
        );
        Assert.Equal(
            (ActivityStatusCode.Error, "Unknown"),
            (completed[1].Status, completed[1].GetTagItem("error.type"))
        );
        Assert.Null(Assert.Single(spans.Named("renew orders")).GetTagItem("messaging.operation.type"));
        Assert.Equal("0/1", Assert.Single(spans.Named("abandon orders")).GetTagItem("messaging.message.id"));
        Activity dead = Assert.Single(spans.Named("dead_letter orders"));
        Assert.Equal("bill", dead.Parent?.DisplayName);
        Assert.Equal(
            "billing",
            Assert
                .Single(
                    spans.Named("receive orders").SelectMany(span => span.Tags),
                    tag => tag.Key == "messaging.consumer.group.name"
                )
                .Value
        );
    }

    [Fact]
    public async Task A_dead_letter_keeps_the_context_of_its_original()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        using var spans = new RecordedSpans();
        await PublishAsync(client, "one");
        await client.Topics.CreateAsync(new TopicSpec("orders.dead") { Kind = TopicKind.Durable }, Cancelled);
        await foreach (
            Message message in client.ConsumeAsync(
                "orders",
                new ConsumeOptions { Group = "billing", SettleMode = SettleMode.Explicit },
                Cancelled
            )
        )
        {
            await message.DeadLetterAsync("no price", Cancelled);
            break;
        }
        await foreach (
            Message letter in client.ConsumeAsync(
                "orders.dead",
                new ConsumeOptions { Start = StartPosition.Earliest },
                Cancelled
            )
        )
        {
            Assert.True(letter.TryGetTraceContext(out ActivityContext context));
            Assert.Equal(Assert.Single(spans.Named("create orders")).Context.SpanId, context.SpanId);
            break;
        }
    }

    [Fact]
    public async Task A_receive_span_lasts_from_the_request_and_is_a_child_of_who_asked()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Transient }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        await producer.PublishAsync("one"u8, cancellationToken: Cancelled);
        using var spans = new RecordedSpans();
        await using IAsyncEnumerator<MessageBatch> batches = client
            .ConsumeBatchesAsync("orders", new ConsumeOptions { Start = StartPosition.Earliest }, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await batches.MoveNextAsync());
        Activity application = RecordedSpans.Application.StartActivity("loop")!;
        ValueTask<bool> next = batches.MoveNextAsync();
        Assert.False(next.IsCompleted);
        Assert.Same(application, Activity.Current);
        application.Stop();
        DateTime published = DateTime.UtcNow;
        await producer.PublishAsync("two"u8, cancellationToken: Cancelled);
        Assert.True(await next);

        Activity receive = spans.Named("receive orders")[^1];
        Assert.Equal(application.SpanId, receive.ParentSpanId);
        Assert.True(receive.StartTimeUtc <= published, $"{receive.StartTimeUtc:O} is after {published:O}");
        Assert.True(receive.StartTimeUtc + receive.Duration >= published);
    }

    [Fact]
    public async Task A_processor_continues_the_trace_of_each_message_in_its_handler_and_with_its_settlement()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        using var spans = new RecordedSpans();
        using var measurements = new RecordedMeasurements();
        await PublishAsync(client, "good", "odd");
        var inHandler = new ConcurrentDictionary<string, Activity?>();
        await using LightQProcessor processor = client.CreateProcessor(
            "orders/0",
            "billing",
            new() { Start = StartPosition.Earliest }
        );
        processor.ProcessErrorAsync += _ => Task.CompletedTask;
        processor.ProcessMessageAsync += args =>
        {
            string text = args.Message.GetText();
            return inHandler.TryAdd(text, Activity.Current) && text == "odd"
                ? throw new FormatException("no price")
                : Task.CompletedTask;
        };
        using (RecordedSpans.Application.StartActivity("start"))
            await processor.StartAsync(Cancelled);
        await Eventually.TrueAsync(
            () => spans.Named("complete orders").Length == 2,
            TimeSpan.FromSeconds(30),
            () => $"{spans.Named("complete orders").Length} messages were completed"
        );
        await processor.StopAsync(Cancelled);

        Activity[] created = spans.Named("create orders"),
            processed = spans.Named("process orders");
        Assert.Equal(3, processed.Length);
        Assert.All(
            created,
            create =>
            {
                Activity handled = processed.First(span => span.TraceId == create.TraceId);
                Assert.Equal((ActivityKind.Consumer, create.SpanId), (handled.Kind, handled.ParentSpanId));
                Assert.Equal(create.SpanId, Assert.Single(handled.Links).Context.SpanId);
                Assert.Contains(handled, inHandler.Values);
                Assert.Single(spans.Named("complete orders"), span => span.TraceId == create.TraceId);
            }
        );
        Activity failed = Assert.Single(processed, span => span.Status == ActivityStatusCode.Error);
        Assert.Equal(
            ("System.FormatException", "0/1"),
            (failed.GetTagItem("error.type"), failed.GetTagItem("messaging.message.id"))
        );
        Assert.Equal(failed.TraceId, Assert.Single(spans.Named("abandon orders")).TraceId);
        var durations = measurements.Of("messaging.process.duration", "process");
        Assert.Equal(3, durations.Length);
        Assert.Single(durations, m => Equals(m.Attributes.GetValueOrDefault("error.type"), "System.FormatException"));
        Assert.All(
            durations,
            m =>
                Assert.Equal(
                    ("process", "billing"),
                    (m.Attributes["messaging.operation.type"], m.Attributes["messaging.consumer.group.name"])
                )
        );
        Assert.All(spans.Named("receive orders"), span => Assert.Equal(default, span.ParentSpanId));
    }

    private static async Task PublishAsync(LightQClient client, params string[] bodies)
    {
        await client.Topics.EnsureAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, RetryDelay = TimeSpan.Zero },
            Cancelled
        );
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        using BatchBuilder batch = producer.CreateBatch();
        foreach (string body in bodies)
            Assert.True(batch.TryAdd(System.Text.Encoding.UTF8.GetBytes(body)));
        await producer.PublishAsync(batch, Cancelled);
    }
}

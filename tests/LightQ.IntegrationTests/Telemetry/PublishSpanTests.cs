using System.Diagnostics;
using System.Text;
using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>Spans of producers, and the way of their contexts through the broker to consumers.</summary>
[Collection(TelemetryCollection.Name)]
public sealed class PublishSpanTests
{
    private static readonly ConsumeOptions FromTheStart = new() { Start = StartPosition.Earliest };

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(BatchCodec.None)]
    [InlineData(BatchCodec.Brotli)]
    public async Task A_message_brings_the_context_of_the_span_that_published_it_to_its_consumer(BatchCodec codec)
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await OpenAsync(client, codec);
        using var spans = new RecordedSpans();
        PublishAck ack;
        Activity application;
        using (application = RecordedSpans.Application.StartActivity("order")!)
        {
            application.TraceStateString = "vendor=7";
            ack = await producer.PublishAsync(
                new byte[1000].AsSpan(),
                "42",
                new MessageHeaders { { "h", "v" } },
                Cancelled
            );
            Assert.Same(application, Activity.Current);
        }

        Activity send = Assert.Single(spans.Named("send orders"));
        Assert.Equal((application.TraceId, application.SpanId), (send.TraceId, send.ParentSpanId));
        Assert.Equal((ActivityKind.Producer, ActivityStatusCode.Unset), (send.Kind, send.Status));
        Assert.Equal(
            new SortedDictionary<string, object?>
            {
                ["messaging.system"] = "lightq",
                ["messaging.operation.name"] = "send",
                ["messaging.operation.type"] = "send",
                ["messaging.destination.name"] = "orders",
                ["messaging.destination.partition.id"] = "0",
                ["messaging.message.id"] = $"0/{ack.Offset}",
                ["server.address"] = "127.0.0.1",
                ["server.port"] = server.DataPort,
            },
            new SortedDictionary<string, object?>(send.TagObjects.ToDictionary())
        );

        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("orders", FromTheStart, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await messages.MoveNextAsync());
        Message message = messages.Current;
        Assert.True(message.TryGetTraceContext(out ActivityContext context));
        Assert.Equal(
            new ActivityContext(send.TraceId, send.SpanId, ActivityTraceFlags.Recorded, "vendor=7", isRemote: true),
            context
        );
        Assert.True(message.TryGetHeader("traceparent", out ReadOnlySpan<byte> parent));
        Assert.Equal(send.Id, Encoding.ASCII.GetString(parent));
        Assert.True(message.TryGetHeader("h", out ReadOnlySpan<byte> own));
        Assert.Equal("v", Encoding.UTF8.GetString(own));
        Activity receive = Assert.Single(spans.Named("receive orders"));
        Assert.Equal(ActivityKind.Client, receive.Kind);
        Assert.Equal(context, Assert.Single(receive.Links).Context);
        Assert.Equal(1, receive.GetTagItem("messaging.batch.message_count"));
    }

    [Fact]
    public async Task Each_message_of_a_batch_is_created_by_a_span_of_its_own_and_all_are_sent_by_one()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await OpenAsync(client);
        using var spans = new RecordedSpans();
        using (BatchBuilder batch = producer.CreateBatch())
        {
            Assert.True(batch.TryAdd("one"u8));
            Assert.True(batch.TryAdd("two"u8, "key"));
            await producer.PublishAsync(batch, Cancelled);
            Assert.True(batch.TryAdd("three"u8));
            Assert.True(producer.TryPublish(batch));
        }
        await producer.FlushAsync(Cancelled);

        Activity[] created = spans.Named("create orders"),
            sent = spans.Named("send orders");
        Assert.Equal([ActivityKind.Producer], created.Select(span => span.Kind).Distinct());
        Assert.Equal([ActivityKind.Client, ActivityKind.Client], sent.Select(span => span.Kind));
        Assert.Equal([2, 1], sent.Select(span => span.GetTagItem("messaging.batch.message_count")));
        Assert.Equal(
            created.Select(span => span.Context),
            sent.SelectMany(span => span.Links).Select(link => link.Context)
        );

        var carried = new List<ActivitySpanId>();
        await foreach (MessageBatch batch in client.ConsumeBatchesAsync("orders", FromTheStart, Cancelled))
        {
            foreach (RecordView record in batch)
            {
                Assert.True(LightQTelemetry.TryGetTraceContext(record.Headers, out ActivityContext context));
                carried.Add(context.SpanId);
            }
            if (carried.Count == 3)
                break;
        }
        Assert.Equal(created.Select(span => span.SpanId), carried);
        Assert.Equal(
            carried,
            spans.Named("receive orders").SelectMany(span => span.Links).Select(link => link.Context.SpanId)
        );
    }

    [Fact]
    public async Task A_publish_that_finds_no_room_leaves_no_span()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await OpenAsync(client);
        using var spans = new RecordedSpans();
        byte[] body = new byte[100_000];
        int published = 0;
        while (producer.TryPublish(body))
            published++;
        await producer.FlushAsync(Cancelled);
        Assert.Equal(published, spans.Named("send orders").Length);
    }

    [Fact]
    public async Task What_is_not_sampled_passes_on_the_context_it_runs_in()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await OpenAsync(client);
        using var spans = new RecordedSpans(samples: name => name == "order");
        using (Activity application = RecordedSpans.Application.StartActivity("order")!)
        {
            Assert.True(producer.TryPublish("x"u8));
            await producer.FlushAsync(Cancelled);
            Assert.Equal(application.SpanId, (await FirstContextAsync(client)).SpanId);
        }
        Assert.Empty(spans.Exported);
    }

    [Fact]
    public async Task What_waits_for_its_producer_to_open_is_published_in_its_callers_context()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
        using var spans = new RecordedSpans();
        var publishing = new List<Task>();
        var callers = new HashSet<string>();
        for (int i = 0; i < 3; i++)
        {
            using Activity caller = RecordedSpans.Application.StartActivity("order")!;
            callers.Add($"{caller.SpanId}");
            publishing.Add(client.PublishAsync("orders", "x"u8, cancellationToken: Cancelled).AsTask());
        }
        await Task.WhenAll(publishing);
        Assert.Equal(callers, spans.Named("send orders").Select(span => $"{span.ParentSpanId}").ToHashSet());
    }

    [Fact]
    public async Task A_context_that_the_application_gave_is_left_as_it_is()
    {
        const string Own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await OpenAsync(client);
        using var spans = new RecordedSpans();
        await producer.PublishAsync(
            "x"u8,
            headers: new MessageHeaders { { "traceparent", Own } },
            cancellationToken: Cancelled
        );
        using BatchBuilder batch = producer.CreateBatch();
        Assert.True(batch.TryAdd("y"u8, default, new MessageHeaders { { "traceparent", Own } }));
        await producer.PublishAsync(batch, Cancelled);

        Assert.Empty(spans.Named("create orders"));
        Activity[] sent = spans.Named("send orders");
        Assert.Equal([ActivityKind.Client, ActivityKind.Client], sent.Select(span => span.Kind));
        ActivityContext context = await FirstContextAsync(client);
        Assert.All(sent, span => Assert.Equal(context.SpanId, Assert.Single(span.Links).Context.SpanId));
        Assert.Equal("b7ad6b7169203331", context.SpanId.ToString());
    }

    [Fact]
    public async Task A_message_that_fits_without_a_context_is_published_without_one()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await OpenAsync(client);
        int largest = await LargestAsync(producer);
        using var spans = new RecordedSpans();
        await producer.PublishAsync(new byte[largest].AsSpan(), cancellationToken: Cancelled);
        await producer.PublishAsync(new byte[largest - 59].AsSpan(), cancellationToken: Cancelled);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(async () =>
            await producer.PublishAsync(new byte[largest + 1].AsSpan(), cancellationToken: Cancelled)
        );

        Assert.Equal(ErrorCode.MessageTooLarge, refused.Code);
        Activity failed = Assert.Single(spans.Named("send orders"), span => span.Status == ActivityStatusCode.Error);
        Assert.Equal(("MessageTooLarge", refused.Message), (failed.GetTagItem("error.type"), failed.StatusDescription));
        var carried = new List<bool>();
        await foreach (Message message in client.ConsumeAsync("orders", FromTheStart, Cancelled))
        {
            if (message.Body.Length < largest - 59)
                continue;
            carried.Add(message.TryGetTraceContext(out _));
            if (message.Body.Length == largest - 59)
                break;
        }
        Assert.False(carried[^2]);
        Assert.True(carried[^1]);
    }

    [Fact]
    public async Task While_nobody_listens_messages_carry_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await OpenAsync(client);
        using Activity application = new Activity("order").Start();
        await producer.PublishAsync("x"u8, cancellationToken: Cancelled);
        await foreach (Message message in client.ConsumeAsync("orders", FromTheStart, Cancelled))
        {
            Assert.False(message.Headers.MoveNext());
            break;
        }
    }

    private static async Task<Producer> OpenAsync(LightQClient client, BatchCodec codec = BatchCodec.None)
    {
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Transient }, Cancelled);
        return await client.CreateProducerAsync("orders", new ProducerOptions { Compression = codec }, Cancelled);
    }

    private static async Task<ActivityContext> FirstContextAsync(LightQClient client)
    {
        await foreach (Message message in client.ConsumeAsync("orders", FromTheStart).WithCancellation(Cancelled))
        {
            Assert.True(message.TryGetTraceContext(out ActivityContext context));
            return context;
        }
        throw new InvalidOperationException("The enumeration has ended.");
    }

    /// <summary>The longest body that a producer takes.</summary>
    private static async Task<int> LargestAsync(Producer producer)
    {
        int fits = 0,
            tooLarge = 64 * 1024 * 1024;
        while (tooLarge - fits > 1)
        {
            int middle = (fits + tooLarge) / 2;
            try
            {
                await producer.PublishAsync(new byte[middle].AsSpan(), cancellationToken: Cancelled);
                fits = middle;
            }
            catch (LightQException e) when (e.Code == ErrorCode.MessageTooLarge)
            {
                tooLarge = middle;
            }
        }
        return fits;
    }
}

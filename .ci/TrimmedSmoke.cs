// What a trimmed or natively compiled program does with LightQ.Client: topics, publishing with keys, headers and
// compression, consuming, settlement in a group, a processor, statistics, errors with their codes, spans and metrics.
// Usage: app CONNECTION-STRING TOPIC
using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Text;
using System.Text.Json.Serialization;
using LightQ.Client;
using LightQ.Client.Administration;

const int Messages = 1000;
using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(60));
CancellationToken cancelled = patience.Token;
string topic = args[1];
await using var client = new LightQClient(args[0]);
using ActivityListener spans = ListenToSpans();
long measured = 0;
using MeterListener measurements = ListenToMeasurements(messages => Interlocked.Add(ref measured, messages));

TopicInfo made = await client.Topics.CreateAsync(
    new TopicSpec(topic) { Kind = TopicKind.Durable, Partitions = 2 },
    cancelled
);
Require(made.Name == topic, $"the topic is called {made.Name}");
try
{
    await client.CreateProducerAsync(topic + ".missing", cancellationToken: cancelled);
    throw new InvalidOperationException("a producer was opened on a topic that does not exist");
}
catch (LightQException e) when (e.Code == ErrorCode.UnknownTopic)
{
    Console.WriteLine($"as it should be: {e.Message}");
}

await using (
    Producer producer = await client.CreateProducerAsync(
        topic,
        new ProducerOptions { Compression = BatchCodec.Brotli },
        cancelled
    )
)
{
    var headers = new MessageHeaders { { "kind", "smoke" } };
    using BatchBuilder batch = producer.CreateBatch(partition: 0);
    for (int i = 0; i < Messages / 2; i++)
        Require(batch.TryAdd(Encoding.UTF8.GetBytes($"message {i}"), $"key {i}", headers), "the batch is full");
    await producer.PublishAsync(batch, cancelled);
    for (int i = Messages / 2; i < Messages; i++)
        await producer.PublishAsync(Encoding.UTF8.GetBytes($"message {i}").AsSpan(), $"key {i}", headers, cancelled);
}

var json = new JsonMessageSerializer<SmokeOrder>(SmokeJson.Default.SmokeOrder);
string values = topic + ".values";
await client.Topics.EnsureAsync(new TopicSpec(values), cancelled);
await client.PublishAsync(values, "bytes"u8, key: "42", cancellationToken: cancelled);
PublishAck value = await client.PublishAsync(values, new SmokeOrder("42", 999), json, cancellationToken: cancelled);
Require(value.Durability == Durability.Fsync, $"a topic that does not say its kind acknowledges as {value.Durability}");
var fromThere = new ConsumeOptions { Start = StartPosition.Offset(value.Offset) };
await foreach (Message<SmokeOrder> order in client.ConsumeAsync(values, json, fromThere, cancelled))
{
    Require(order.Value == new SmokeOrder("42", 999), $"the value came as {order.Value}");
    break;
}
MessageSettlement said = default;
Message handed = Message.Create(
    "handed"u8,
    "42",
    deliveryCount: 2,
    settle: settlement =>
    {
        said = settlement;
        return SettleOutcome.Done;
    }
);
Require(
    await handed.DeadLetterAsync("tried", cancelled) == SettleOutcome.Done,
    "a message that was made is not settled"
);
Require(
    said is { Kind: SettleKind.DeadLetter, Reason: "tried" } && handed.GetText() == "handed",
    $"{said} of {handed.GetText()}"
);

int received = 0;
await foreach (
    MessageBatch batch in client
        .ConsumeBatchesAsync(
            topic,
            new() { Start = StartPosition.Earliest, Filter = MessageFilter.Parse("kind = 'smoke'") }
        )
        .WithCancellation(cancelled)
)
{
    foreach (RecordView record in batch)
    {
        Require(LightQTelemetry.TryGetTraceContext(record.Headers, out _), "a message carries no trace context");
        received++;
    }
    if (received == Messages)
        break;
}

int settled = 0;
await foreach (
    Message message in client
        .ConsumeAsync(topic, new() { Group = "settlers", SettleMode = SettleMode.Explicit })
        .WithCancellation(cancelled)
)
{
    Require(await message.CompleteAsync(cancelled) == SettleOutcome.Done, $"message {message.Offset} was not settled");
    if (++settled == 10)
        break;
}

int handled = 0;
var all = new TaskCompletionSource();
await using (LightQProcessor processor = client.CreateProcessor(topic, "handlers", new() { MaxConcurrency = 4 }))
{
    processor.ProcessMessageAsync += _ =>
    {
        if (Interlocked.Increment(ref handled) == Messages)
            all.SetResult();
        return Task.CompletedTask;
    };
    await processor.StartAsync(cancelled);
    await all.Task.WaitAsync(cancelled);
}
TopicStats stats = await client.Stats.GetTopicAsync(topic, cancelled);
Require(stats.TotalBytesWritten > 0, "the topic's statistics are empty");
Require(measured >= 3 * Messages, $"{measured} messages were measured");
Console.WriteLine($"{received} messages consumed, {settled} settled, {handled} handled, {measured} measured");
return 0;

static ActivityListener ListenToSpans()
{
    var listener = new ActivityListener
    {
        ShouldListenTo = source => source.Name == LightQTelemetry.ActivitySourceName,
        Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
    };
    ActivitySource.AddActivityListener(listener);
    return listener;
}

static MeterListener ListenToMeasurements(Action<long> onMessages)
{
    var listener = new MeterListener
    {
        InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Name == LightQTelemetry.MeterName)
                listener.EnableMeasurementEvents(instrument);
        },
    };
    listener.SetMeasurementEventCallback<long>((_, messages, _, _) => onMessages(messages));
    listener.Start();
    return listener;
}

static void Require(bool condition, string otherwise)
{
    if (!condition)
        throw new InvalidOperationException(otherwise);
}

internal sealed record SmokeOrder(string Id, int Cents);

[JsonSerializable(typeof(SmokeOrder))]
internal sealed partial class SmokeJson : JsonSerializerContext;

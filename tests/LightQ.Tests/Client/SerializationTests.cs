using System.Buffers;
using System.Text;
using System.Text.Json;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>Values on their way to bodies and back.</summary>
public sealed class SerializationTests
{
    private static readonly JsonMessageSerializer<ShopOrder> Json = new(ShopJson.Default.ShopOrder);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_value_is_published_as_json_with_its_content_type_by_the_id_that_stands_for_the_name()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer<ShopOrder> producer, FakeConnection connection) = await OpenAsync(broker, client, Json);
        using FakeConnection _ = connection;

        Assert.True(producer.TryPublish(new ShopOrder("a", 999), key: "k"));

        Published published = await ReadAsync(connection);
        Assert.Equal("""{"Id":"a","Cents":999}""", published.Body);
        Assert.Equal("k", published.Key);
        Assert.Equal([(WellKnownHeader.ContentType, "", "application/json")], published.Headers);
    }

    [Fact]
    public async Task Other_headers_stay_and_a_content_type_of_the_messages_own_counts()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer<ShopOrder> producer, FakeConnection connection) = await OpenAsync(broker, client, Json);
        using FakeConnection _ = connection;
        MessageHeaders others = new() { { "a", "1" }, { "b", "2" } };

        Assert.True(producer.TryPublish(new ShopOrder("a", 1), headers: others));
        Assert.Equal(
            [(WellKnownHeader.ContentType, "", "application/json"), ((byte)0, "a", "1"), ((byte)0, "b", "2")],
            (await ReadAsync(connection)).Headers
        );
        Assert.Equal(["a", "b"], others.Select(h => h.Key));

        Assert.True(
            producer.TryPublish(
                new ShopOrder("a", 1),
                headers: new MessageHeaders { { "content-type", "application/vnd.shop+json" } }
            )
        );
        Assert.Equal([((byte)0, "content-type", "application/vnd.shop+json")], (await ReadAsync(connection)).Headers);
    }

    [Fact]
    public async Task Headers_that_leave_no_room_for_the_content_type_are_refused()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer<ShopOrder> producer, FakeConnection connection) = await OpenAsync(broker, client, Json);
        using FakeConnection _ = connection;
        MessageHeaders full = new() { { "a", new byte[RecordLayout.MaxHeadersLength - 4] } };

        ArgumentException refused = Assert.Throws<ArgumentException>(() =>
            producer.TryPublish(new ShopOrder("a", 1), headers: full)
        );
        Assert.Contains("at most 65535 bytes, its content type included", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_a_serializer_throws_is_thrown_and_nothing_is_published()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer<ShopOrder> producer, FakeConnection connection) = await OpenAsync(broker, client, new Fussy());
        using FakeConnection _ = connection;

        Assert.Throws<NotSupportedException>(() => producer.TryPublish(new ShopOrder("free", 0)));
        Assert.True(producer.TryPublish(new ShopOrder("a", 1)));

        Published published = await ReadAsync(connection);
        Assert.Equal(("a", "text/plain"), (published.Body, published.Headers[0].Value));
    }

    [Fact]
    public async Task A_body_that_is_no_such_value_names_its_message_and_its_cause_and_the_others_come()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var orders = client
            .ConsumeAsync("orders/2", Json, cancellationToken: Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = orders.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync(40);
        await connection.DeliverAsync(
            subscribe.Header.Stream,
            FakeConnection.Batch(
                40,
                "{\"Id\":\"a\",\"Cents\":1}"u8.ToArray(),
                "{\"Id\":"u8.ToArray(),
                "null"u8.ToArray(),
                [],
                "{\"Id\":\"b\",\"Cents\":2}"u8.ToArray()
            )
        );

        var seen = new List<string>();
        for (int i = 0; i < 5; i++)
        {
            Assert.True(await moved);
            Message<ShopOrder> order = orders.Current;
            Assert.Equal(order.Error is null, order.TryGetValue(out _));
            seen.Add(
                order.TryGetValue(out ShopOrder? value)
                    ? $"{order.Raw.Offset} {value.Id} {order.Value.Cents}"
                    : $"{order.Error!.Offset} {order.Error.InnerException!.GetType().Name}"
            );
            if (order.Error is not null)
            {
                UndecodableMessageException error = Assert.Throws<UndecodableMessageException>(() => order.Value);
                Assert.Equal(
                    ("orders", 2, order.Raw.Offset, null),
                    (error.Topic, error.Partition, error.Offset, error.ContentType)
                );
                Assert.StartsWith(
                    $"Message {40 + i} of orders, partition 2, is no ShopOrder (without a content type): ",
                    error.Message,
                    StringComparison.Ordinal
                );
                Assert.EndsWith(error.InnerException!.Message, error.Message, StringComparison.Ordinal);
            }
            if (i < 4)
                moved = orders.MoveNextAsync();
        }
        Assert.Equal(["40 a 1", "41 JsonException", "42 JsonException", "43 JsonException", "44 b 2"], seen);
    }

    [Fact]
    public async Task A_serializer_is_used_by_many_threads_and_by_itself()
    {
        await Parallel.ForAsync(
            0,
            2_000,
            Cancel,
            (i, _) =>
            {
                var outer = new ArrayBufferWriter<byte>();
                var order = new ShopOrder($"order {i}", i);
                Json.Serialize(order, outer);
                Assert.Equal($$"""{"Id":"order {{i}}","Cents":{{i}}}""", Encoding.UTF8.GetString(outer.WrittenSpan));
                Assert.Equal(order, Json.Deserialize(outer.WrittenSpan));
                return ValueTask.CompletedTask;
            }
        );
    }

    [Fact]
    public void A_null_body_is_no_value()
    {
        JsonException refused = Assert.Throws<JsonException>(() => Json.Deserialize("null"u8));
        Assert.Equal("The body is null, which is no ShopOrder.", refused.Message);
    }

    private static async Task<(Producer<ShopOrder> Producer, FakeConnection Connection)> OpenAsync(
        FakeBroker broker,
        LightQClient client,
        IMessageSerializer<ShopOrder> serializer
    )
    {
        Task<Producer<ShopOrder>> opening = client.CreateProducerAsync(
            "orders",
            serializer,
            new ProducerOptions { DisposeTimeout = TimeSpan.Zero },
            Cancel
        );
        FakeConnection connection = await broker.AcceptAsync();
        await connection.OpenProducerAsync();
        return (await opening, connection);
    }

    private static async Task<Published> ReadAsync(FakeConnection connection)
    {
        FakeFrame frame = await connection.ReadAsync(FrameType.Publish);
        Assert.True(BatchView.TryRead(frame.Body, out BatchView batch));
        foreach (RecordView record in batch.Records)
        {
            var headers = new List<(byte Id, string Name, string Value)>();
            foreach (HeaderView header in record.Headers)
            {
                headers.Add(
                    (header.WellKnownId, Encoding.UTF8.GetString(header.Name), Encoding.UTF8.GetString(header.Value))
                );
            }

            return new Published(Encoding.UTF8.GetString(record.Body), Encoding.UTF8.GetString(record.Key), headers);
        }
        throw new InvalidDataException("The batch is empty.");
    }

    private sealed record Published(string Body, string Key, List<(byte Id, string Name, string Value)> Headers);

    /// <summary>Text that takes no order without a price.</summary>
    private sealed class Fussy : IMessageSerializer<ShopOrder>
    {
        public string ContentType => "text/plain";

        public void Serialize(ShopOrder value, IBufferWriter<byte> body)
        {
            Encoding.UTF8.GetBytes(value.Id, body);
            if (value.Cents == 0)
                throw new NotSupportedException("no price");
        }

        public ShopOrder Deserialize(ReadOnlySpan<byte> body) => new(Encoding.UTF8.GetString(body), 1);
    }
}

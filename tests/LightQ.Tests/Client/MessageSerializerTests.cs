using System.Buffers;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>The serializers that are used where none is given.</summary>
public sealed class MessageSerializerTests
{
    [Fact]
    public void Text_bytes_and_everything_else_are_what_they_are_taken_for()
    {
        Assert.Equal(
            ("héllo", "text/plain; charset=utf-8"),
            (Write("héllo"), MessageSerializer.Default<string>().ContentType)
        );
        Assert.Equal("raw", Write("raw"u8.ToArray()));
        Assert.Equal("application/octet-stream", MessageSerializer.Default<byte[]>().ContentType);
        Assert.Equal("""{"id":"42","cents":999}""", Write(new ShopOrder("42", 999)));
        Assert.Equal("application/json", MessageSerializer.Default<ShopOrder>().ContentType);
        Assert.Equal("42", Write(42));
        Assert.Same(MessageSerializer.Default<ShopOrder>(), MessageSerializer.Default<ShopOrder>());
    }

    [Fact]
    public void What_they_write_they_read_and_so_does_a_contract_of_the_compiler()
    {
        Assert.Equal("héllo", MessageSerializer.Text.Deserialize(Encoding.UTF8.GetBytes("héllo")));
        Assert.True(MessageSerializer.Bytes.Deserialize([1, 2]).AsSpan().SequenceEqual((byte[])[1, 2]));
        byte[] order = Encoding.UTF8.GetBytes(Write(new ShopOrder("42", 999)));
        Assert.Equal(
            new ShopOrder("42", 999),
            MessageSerializer.Default<ShopOrder>().Deserialize("""{"Id":"42","CENTS":999}"""u8)
        );
        Assert.Equal(new ShopOrder("42", 999), MessageSerializer.Default<ShopOrder>().Deserialize(order));
        Assert.Equal(
            new ShopOrder("42", 999),
            new JsonMessageSerializer<ShopOrder>(WebJson.Default.ShopOrder).Deserialize(order)
        );
    }

    [Fact]
    public void Bytes_that_are_no_text_are_no_value()
    {
        Message<string> message = Message.Create([0xFF, 0xFE]).As(MessageSerializer.Text, "orders");
        Assert.False(message.TryGetValue(out _));
        Assert.IsType<DecoderFallbackException>(message.Error!.InnerException);
        Assert.IsType<JsonException>(
            Message.Create("{}}"u8).As(MessageSerializer.Default<ShopOrder>(), "orders").Error!.InnerException
        );
    }

    [Theory]
    [InlineData("""{"cents":1}""")]
    [InlineData("""{"id":null,"cents":1}""")]
    [InlineData("""{"id":"42"}""")]
    [InlineData("""{"identity":"42","cents":1}""")]
    public void A_value_without_what_it_must_have_cannot_be_read(string body)
    {
        Message<ShopOrder> message = Message
            .Create(Encoding.UTF8.GetBytes(body))
            .As(MessageSerializer.Default<ShopOrder>(), "orders");
        Assert.False(message.TryGetValue(out _));
        Assert.IsType<UndecodableMessageException>(message.Error);
    }

    [Fact]
    public void A_value_of_a_derived_type_is_written_with_all_that_it_has()
    {
        Assert.Equal("""{"floor":3,"name":"a"}""", Write<Place>(new Room("a", 3)));
        Assert.Equal("""{"floor":3,"name":"a"}""", Write<object>(new Room("a", 3)));
        Assert.Equal("""{"name":"a"}""", Write(new Place("a")));
        Assert.Equal("""{"$type":"dog","name":"a"}""", Write<Animal>(new Dog("a")));
        Assert.Equal("[1,2]", Write<IEnumerable<int>>(new List<int> { 1, 2 }));
    }

    [Fact]
    public void What_is_no_value_but_gives_one_is_refused_with_what_to_do()
    {
        Assert.Contains("await it", Refuse(Task.FromResult(new ShopOrder("42", 999))), StringComparison.Ordinal);
        Assert.Contains("await it", Refuse(new ValueTask<int>(1)), StringComparison.Ordinal);
        Assert.Contains("await it", Refuse<object>(Task.CompletedTask), StringComparison.Ordinal);
        Assert.Contains("read it", Refuse(new MemoryStream()), StringComparison.Ordinal);
        Assert.Contains("read it", Refuse<Stream>(new MemoryStream()), StringComparison.Ordinal);
        Assert.Contains("the query", Refuse(Enumerable.Range(0, 1).AsQueryable()), StringComparison.Ordinal);
        Assert.Contains("one by one", Refuse(Enumerable.Range(0, 1).ToAsyncEnumerable()), StringComparison.Ordinal);
        Assert.Contains("call it", Refuse(() => 1), StringComparison.Ordinal);
        Assert.Contains("cancellationToken", Refuse(CancellationToken.None), StringComparison.Ordinal);

        static string Refuse<T>(T value) => Assert.Throws<ArgumentException>(() => Write(value)).Message;
    }

    [Fact]
    public void Options_of_the_json_are_the_callers()
    {
        var json = new JsonMessageSerializer<ShopOrder>(new JsonSerializerOptions(JsonSerializerDefaults.Web));
        var body = new ArrayBufferWriter<byte>();
        json.Serialize(new ShopOrder("42", 999), body);
        Assert.Equal("""{"id":"42","cents":999}""", Encoding.UTF8.GetString(body.WrittenSpan));
    }

    private static string Write<T>(T value)
    {
        var body = new ArrayBufferWriter<byte>();
        MessageSerializer.Default<T>().Serialize(value, body);
        return Encoding.UTF8.GetString(body.WrittenSpan);
    }

    private record Place(string Name);

    private sealed record Room(string Name, int Floor) : Place(Name);

    [JsonDerivedType(typeof(Dog), "dog")]
    private abstract record Animal(string Name);

    private sealed record Dog(string Name) : Animal(Name);
}

using System.Buffers;
using System.Text;
using System.Text.Json;
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
        Assert.Equal("""{"Id":"42","Cents":999}""", Write(new ShopOrder("42", 999)));
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
        Assert.Equal(new ShopOrder("42", 999), MessageSerializer.Default<ShopOrder>().Deserialize(order));
        Assert.Equal(
            new ShopOrder("42", 999),
            new JsonMessageSerializer<ShopOrder>(ShopJson.Default.ShopOrder).Deserialize(order)
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
}

using System.Text.Json;
using System.Text.Json.Serialization;
using LightQ.Client;

namespace LightQ.Samples;

/// <summary>Values instead of bytes. See docs/use/serialization.md.</summary>
internal static class SerializationSample
{
    public static async Task RunAsync(LightQClient client)
    {
        await client.Topics.EnsureAsync(new TopicSpec("orders"));
        var json = new JsonMessageSerializer<Order>(OrderJson.Default.Order);
        await using Producer<Order> producer = await client.CreateProducerAsync("orders", json);
        await producer.PublishAsync(new Order("42", 9.99m));
        await producer.Raw.PublishAsync("not an order"u8);
        await producer.PublishAsync(new Order("43", 5m));

        int seen = 0;
        await foreach (
            Message<Order> order in client.ConsumeAsync("orders", json, new() { Start = StartPosition.Earliest })
        )
        {
            Console.WriteLine(
                order.TryGetValue(out Order? value)
                    ? $"{value.Id} costs {value.Price}"
                    : $"offset {order.Raw.Offset} is no order"
            );
            if (++seen == 3)
                break;
        }
    }
}

internal sealed record Order(string Id, decimal Price);

[JsonSourceGenerationOptions(
    JsonSerializerDefaults.Web,
    RespectNullableAnnotations = true,
    RespectRequiredConstructorParameters = true
)]
[JsonSerializable(typeof(Order))]
internal sealed partial class OrderJson : JsonSerializerContext;

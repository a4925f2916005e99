using System.Collections.Concurrent;
using System.Text.Json;
using System.Text.Json.Serialization;
using LightQ.Client;

namespace LightQ.IntegrationTests.Docs;

// SHOWN: contract
public sealed record Order(string Id, decimal Price);

[JsonSourceGenerationOptions(
    JsonSerializerDefaults.Web,
    RespectNullableAnnotations = true,
    RespectRequiredConstructorParameters = true
)]
[JsonSerializable(typeof(Order))]
internal sealed partial class ShopJson : JsonSerializerContext;
// SHOWN: end

/// <summary>The C# of docs/use/serialization.md, word for word between the markers.</summary>
internal sealed class SerializationExamples(LightQClient client)
{
    /// <summary>What was billed.</summary>
    public ConcurrentQueue<Order> Billed { get; } = new();

    /// <summary>Stands for <see cref="System.Console"/> in the examples.</summary>
    public StringWriter Console { get; } = new();

    public async Task PublishAndConsumeAsync()
    {
        // SHOWN: values
        var json = new JsonMessageSerializer<Order>(ShopJson.Default.Order);

        await using Producer<Order> producer = await client.CreateProducerAsync("orders", json);
        await producer.PublishAsync(new Order("42", 9.99m), key: "42");

        await foreach (Message<Order> order in client.ConsumeAsync("orders", json, new() { Start = StartPosition.Earliest }))
        {
            if (order.TryGetValue(out Order? value))
                Console.WriteLine($"{order.Raw.Offset}: {value.Id} costs {value.Price}");
            else
                Console.WriteLine(order.Error!.Message);
            if (order.Raw.Offset == 2)
                break;
        }
        // SHOWN: end
    }

    public void Process(LightQProcessor processor)
    {
        var json = new JsonMessageSerializer<Order>(ShopJson.Default.Order);
        // SHOWN: processor
        processor.ProcessMessageAsync += async args => await BillAsync(args.GetValue(json), args.CancellationToken);
        processor.ProcessErrorAsync += async args =>
        {
            if (args is { Exception: UndecodableMessageException undecodable, Message: { } message })
                await message.DeadLetterAsync(undecodable.Message);
        };
        // SHOWN: end
    }

    private Task BillAsync(Order order, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Billed.Enqueue(order);
        return Task.CompletedTask;
    }
}

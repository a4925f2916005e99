using LightQ.Client;
using LightQ.Server;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The README's C#, word for word between the markers; what it writes to the console is kept.</summary>
internal sealed class ReadmeExamples
{
    /// <summary>Stands for <see cref="System.Console"/> in the examples.</summary>
    private StringWriter Console { get; } = new();

    public IReadOnlyList<string> Lines => Console.ToString().Split(Console.NewLine, StringSplitOptions.RemoveEmptyEntries);

    public async Task PublishAndConsumeAsync()
    {
        // README: publish and consume
        await using LightQServer server = await LightQServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);

        await client.Topics.EnsureAsync(new TopicSpec("orders"));               // durable, the default: on the disk

        PublishAck ack = await client.PublishAsync("orders", "first"u8, key: "42"); // waits until it is on the disk
        Console.WriteLine($"offset {ack.Offset}, safe as {ack.Durability}");

        await using Producer producer = await client.CreateProducerAsync("orders"); // for many messages
        for (int i = 0; i < 1000; i++)
        {
            while (!producer.TryPublish("another"u8))                           // waits for nothing; false: the window is full
                await producer.WaitForRoomAsync();
        }
        await producer.FlushAsync();                                            // all acknowledged, or the first error

        int count = 0;
        await foreach (Message message in client.ConsumeAsync("orders", new() { Start = StartPosition.Earliest }))
        {
            if (message.Offset == 0)
                Console.WriteLine($"{message.GetText()} at {message.AppendTime:O}");
            if (++count == 1001)
                break;                                                          // leaving the loop ends the subscription
        }
        Console.WriteLine($"consumed {count}");
        // README: end
    }
}

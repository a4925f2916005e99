using System.Collections.Concurrent;
using LightQ.Client;

namespace LightQ.Samples;

/// <summary>
/// A handler works through a group's messages, several at a time; one fails once. See docs/use/processing.md.
/// </summary>
internal static class ProcessingSample
{
    private const int Orders = 20;

    public static async Task RunAsync(LightQClient client)
    {
        await client.Topics.EnsureAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, RetryDelay = TimeSpan.Zero }
        );
        await using Producer producer = await client.CreateProducerAsync("orders");
        for (int i = 0; i < Orders; i++)
            await producer.PublishAsync(BitConverter.GetBytes(i));

        await using LightQProcessor processor = client.CreateProcessor(
            "orders",
            "billing",
            new() { MaxConcurrency = 8 }
        );
        var billed = new ConcurrentDictionary<int, int>();
        var all = new TaskCompletionSource();
        processor.ProcessMessageAsync += async args =>
        {
            int order = BitConverter.ToInt32(args.Message.BodySpan);
            await Task.Delay(1, args.CancellationToken); // The work.
            if (order == 13 && args.Message.DeliveryCount == 1)
                throw new InvalidOperationException("the bank did not answer");
            billed[order] = args.Message.DeliveryCount;
            if (billed.Count == Orders)
                all.TrySetResult();
        };
        processor.ProcessErrorAsync += args =>
        {
            Console.WriteLine($"offset {args.Offset}: {args.Exception.Message}");
            return Task.CompletedTask;
        };
        await processor.StartAsync();
        await all.Task.WaitAsync(TimeSpan.FromSeconds(30));
        await processor.StopAsync(); // What is running ends first.
        Console.WriteLine($"{billed.Count} billed, order 13 at delivery {billed[13]}");
    }
}

using LightQ.Client;

namespace LightQ.Samples;

/// <summary>
/// A producer with a name stores what it sends again once, and a newer one of the name takes over. See
/// docs/use/exactly-once.md.
/// </summary>
internal static class ExactlyOnceSample
{
    public static async Task RunAsync(LightQClient client)
    {
        await client.Topics.EnsureAsync(new TopicSpec("payments") { Kind = TopicKind.Durable });
        var options = new ProducerOptions { Name = "checkout-1" };
        await using Producer older = await client.CreateProducerAsync("payments", options);
        PublishAck ack = await older.PublishAsync("pay 10"u8);
        Console.WriteLine($"stored at {ack.Offset}");

        // The same service starts elsewhere, while the old one still believes that it is alone.
        await using Producer newer = await client.CreateProducerAsync("payments", options);
        ack = await newer.PublishAsync("pay 20"u8);
        Console.WriteLine($"stored at {ack.Offset}");
        try
        {
            await older.PublishAsync("pay 30"u8);
        }
        catch (LightQException e) when (e.Code == ErrorCode.Fenced)
        {
            Console.WriteLine("the older one is fenced");
        }
    }
}

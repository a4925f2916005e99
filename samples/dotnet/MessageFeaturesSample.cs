using LightQ.Client;

namespace LightQ.Samples;

/// <summary>
/// Headers and a filter, time to live, delayed delivery, compression, a tombstone. See docs/use/message-features.md.
/// </summary>
internal static class MessageFeaturesSample
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    public static async Task RunAsync(LightQClient client)
    {
        await client.Topics.EnsureAsync(new TopicSpec("orders") { Kind = TopicKind.Durable });
        await using Producer producer = await client.CreateProducerAsync(
            "orders",
            new() { Compression = BatchCodec.Brotli }
        );

        await producer.PublishAsync("from Rome"u8, headers: new MessageHeaders { { "region", "eu-south" } });
        await producer.PublishAsync("from Lima"u8, headers: new MessageHeaders { { "region", "sa-west" } });
        var european = new ConsumeOptions
        {
            Start = StartPosition.Earliest,
            Filter = MessageFilter.Parse("region ^= 'eu'"),
        };
        await using (MessageConsumer filtered = client.CreateConsumer("orders", european))
            Console.WriteLine($"filtered: {(await filtered.FetchAsync(1, Patience))[0].GetText()}");

        await producer.PublishAsync(
            "too late"u8.ToArray(),
            new PublishOptions { TimeToLive = TimeSpan.FromMilliseconds(1) }
        );
        // A client is behind the broker's clock by as long as the broker's first answer was under way.
        await Task.Delay(500);
        await producer.PublishTombstoneAsync(key: "42");
        await producer.PublishAsync("later"u8.ToArray(), new PublishOptions { Delay = TimeSpan.FromMilliseconds(200) });
        await using MessageConsumer consumer = client.CreateConsumer(
            "orders",
            new() { Start = StartPosition.Offset(2) }
        );
        Message tombstone = (await consumer.FetchAsync(1, Patience))[0],
            delayed = (await consumer.FetchAsync(1, Patience))[0];
        Console.WriteLine($"key 42 is gone: {tombstone.IsTombstone}");
        Console.WriteLine($"delayed: {delayed.GetText()}");
        Console.WriteLine($"expired: {client.MessagesExpired}");
    }
}

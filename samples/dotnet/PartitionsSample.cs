using LightQ.Client;

namespace LightQ.Samples;

/// <summary>Messages with the same key are in one partition, and so in order. See docs/use/partitions.md.</summary>
internal static class PartitionsSample
{
    public static async Task RunAsync(LightQClient client)
    {
        await client.Topics.EnsureAsync(new TopicSpec("clicks") { Partitions = 4 });
        await using MessageConsumer all = client.CreateConsumer("clicks", new() { Start = StartPosition.Earliest });
        await using Producer producer = await client.CreateProducerAsync("clicks");
        for (int click = 1; click <= 3; click++)
        {
            foreach (string shop in (string[])["lima", "oslo", "rome"])
                await producer.PublishAsync(System.Text.Encoding.UTF8.GetBytes($"click {click}"), key: shop);
        }

        IReadOnlyList<Message> messages = await all.FetchAsync(9, TimeSpan.FromSeconds(30), TimeSpan.FromSeconds(30));
        foreach (
            IGrouping<string, Message> shop in messages
                .GroupBy(m => System.Text.Encoding.UTF8.GetString(m.Key.Span))
                .OrderBy(g => g.Key)
        )
        {
            Console.WriteLine(
                $"{shop.Key}, partition {shop.Select(m => m.Partition).Distinct().Single()}: "
                    + $"{string.Join(", ", shop.Select(m => m.GetText()))}"
            );
        }

        // One partition alone is addressed by its number.
        int ofOslo = messages.First(m => m.Key.Span.SequenceEqual("oslo"u8)).Partition;
        await using MessageConsumer one = client.CreateConsumer(
            $"clicks/{ofOslo}",
            new() { Start = StartPosition.Offset(0) }
        );
        Console.WriteLine(
            $"clicks/{ofOslo} begins with {(await one.FetchAsync(1, TimeSpan.FromSeconds(30)))[0].GetText()}"
        );
    }
}

using LightQ.Client;

namespace LightQ.Samples;

/// <summary>
/// A consumer that stands still while a transient topic goes on: it is told exactly what it missed. See
/// docs/use/consuming.md.
/// </summary>
internal static class SlowConsumersSample
{
    private const int Messages = 20_000;

    public static async Task RunAsync(LightQClient client)
    {
        await client.Topics.EnsureAsync(
            new TopicSpec("prices")
            {
                Kind = TopicKind.Transient,
                RingBytes = 1024 * 1024,
                MaxMessageBytes = 16 * 1024,
            }
        );
        var missed = new List<MessageGap>();
        long received = 0;
        var options = new ConsumeOptions
        {
            Start = StartPosition.Earliest,
            SlowPolicy = SlowPolicy.DropOldest,
            CreditBytes = 64 * 1024,
            OnGap = missed.Add,
        };
        await using IAsyncEnumerator<Message> consumer = client.ConsumeAsync("prices", options).GetAsyncEnumerator();
        await using Producer producer = await client.CreateProducerAsync("prices");
        await producer.PublishAsync(new byte[1000]);
        await consumer.MoveNextAsync(); // It is subscribed, and now does not come back for a while.
        received++;

        for (int i = 1; i < Messages; i++)
        {
            while (!producer.TryPublish(new byte[1000]))
                await producer.WaitForRoomAsync();
        }
        await producer.FlushAsync(); // Nobody waited for the slow one.

        while (consumer.Current.Offset < Messages - 1 && await consumer.MoveNextAsync())
            received++;
        long lost = missed.Sum(g => g.LastOffset - g.FirstOffset + 1);
        Console.WriteLine($"{Messages} published; every one was received or in a gap: {received + lost == Messages}");
        Console.WriteLine($"some were missed: {lost > 0}, because they were {missed[0].Reason}");
    }
}

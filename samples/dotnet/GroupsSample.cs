using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Samples;

/// <summary>
/// Two workers share jobs; one job fails until it is given up, and is driven back once it can succeed. See
/// docs/use/groups.md.
/// </summary>
internal static class GroupsSample
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    public static async Task RunAsync(LightQClient client)
    {
        await client.Topics.EnsureAsync(
            new TopicSpec("jobs")
            {
                Kind = TopicKind.Durable,
                MaxDeliveries = 3,
                RetryDelay = TimeSpan.FromMilliseconds(20),
            }
        );
        await using Producer producer = await client.CreateProducerAsync("jobs");
        foreach (string job in (string[])["resize cat.png", "resize broken.png", "resize dog.png", "resize owl.png"])
            await producer.PublishAsync(System.Text.Encoding.UTF8.GetBytes(job));

        // A worker holds one job at a time, so the other gets the rest meanwhile.
        var options = new ConsumeOptions
        {
            Group = "workers",
            SettleMode = SettleMode.Explicit,
            MaxInFlight = 1,
        };
        await using MessageConsumer first = client.CreateConsumer("jobs", options),
            second = client.CreateConsumer("jobs", options);
        var done = new List<string>();
        for (int failures = 0; done.Count < 3 || failures < 3; )
        {
            foreach (MessageConsumer worker in (MessageConsumer[])[first, second])
            {
                foreach (Message job in await worker.FetchAsync(1, TimeSpan.FromMilliseconds(100)))
                {
                    if (job.GetText().Contains("broken", StringComparison.Ordinal))
                    {
                        Console.WriteLine($"delivery {job.DeliveryCount} of '{job.GetText()}' fails");
                        await job.AbandonAsync();
                        failures++;
                        continue;
                    }
                    await job.CompleteAsync();
                    done.Add(job.GetText());
                }
            }
        }
        Console.WriteLine($"done: {string.Join(", ", done.Order())}");

        await using MessageConsumer letters = client.CreateConsumer(
            "jobs.dead",
            new() { Start = StartPosition.Earliest }
        );
        Message letter = await DeadLetterAsync(letters);
        letter.TryGetHeader("lightq-dead-reason", out ReadOnlySpan<byte> reason);
        Console.WriteLine($"given up: '{letter.GetText()}', {System.Text.Encoding.UTF8.GetString(reason)}");

        RedriveResult redriven = await client.Groups.RedriveAsync("jobs", "workers");
        Message again = (await first.FetchAsync(1, Patience))[0];
        Console.WriteLine(
            $"{redriven.Redriven} redriven: '{again.GetText()}', delivery {again.DeliveryCount}, "
                + $"{await again.CompleteAsync()}"
        );
    }

    private static async Task<Message> DeadLetterAsync(MessageConsumer letters)
    {
        // The topic is made with its first letter, which is on its way.
        while (true)
        {
            try
            {
                return (await letters.FetchAsync(1, Patience))[0];
            }
            catch (LightQException e) when (e.Code == ErrorCode.UnknownTopic)
            {
                await Task.Delay(20);
            }
        }
    }
}

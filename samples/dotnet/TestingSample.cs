using LightQ.Client;
using LightQ.Testing;

namespace LightQ.Samples;

/// <summary>A worker that hangs, without waiting for its lock to run out. See docs/use/testing.md.</summary>
internal static class TestingSample
{
    public static async Task RunAsync(LightQClient _)
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync();
        await using LightQClient client = broker.CreateClient();
        await client.Topics.CreateAsync(
            new TopicSpec("jobs")
            {
                Kind = TopicKind.Durable,
                LockDuration = TimeSpan.FromHours(1),
                RetryDelay = TimeSpan.Zero,
            }
        );
        await using Producer producer = await client.CreateProducerAsync("jobs");
        await producer.PublishAsync("job"u8);
        var options = new ConsumeOptions { Group = "workers", SettleMode = SettleMode.Explicit };
        await using MessageConsumer hangs = client.CreateConsumer("jobs", options),
            works = client.CreateConsumer("jobs", options);
        Message held = (await hangs.FetchAsync(1, TimeSpan.FromSeconds(30)))[0];

        broker.Time.Advance(TimeSpan.FromHours(1));

        await hangs.DisposeAsync();
        Message again = (await works.FetchAsync(1, TimeSpan.FromSeconds(30)))[0];
        Console.WriteLine(
            $"delivery {again.DeliveryCount}: {await again.CompleteAsync()}; of the one that hung: "
                + $"{await held.CompleteAsync()}"
        );
    }
}

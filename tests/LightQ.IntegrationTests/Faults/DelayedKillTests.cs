using System.Globalization;
using System.Text;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>The broker is killed while it copies delayed messages out of the way of retention.</summary>
[Collection(FaultCollection.Name)]
public sealed class DelayedKillTests
{
    private const int Delayed = 60;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Kill_9_while_delayed_messages_are_copied_loses_none_and_delivers_none_twice()
    {
        FaultRun.RequireTier("It kills processes, and waits until messages are due.");
        var run = new FaultRun("delayed", "kill -9 while delayed messages are copied out of the way of retention");
        Random random = run.RandomFor(1);
        await using RetainedTopic topic = await RetainedTopic.StartAsync(t =>
            t with
            {
                RetentionBytes = RetainedTopic.SegmentBytes,
            }
        );
        LightQClient client = topic.Client;
        DateTimeOffset due = DateTimeOffset.UtcNow + TimeSpan.FromSeconds(FaultRun.Times(20, 240));
        int next = 0;
        long start = 0;
        for (int cycle = 0; cycle < FaultRun.Times(5, 60); cycle++)
        {
            using var filling = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
            Task fill = FillAsync(client, filling.Token);
            await using (Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled))
            {
                for (int i = 0; i < Delayed / FaultRun.Times(5, 60); i++)
                {
                    await producer.PublishAsync(
                        Encoding.UTF8.GetBytes($"{next++}"),
                        new PublishOptions { DeliverAt = due },
                        cancellationToken: Cancelled
                    );
                }
            }
            await Task.Delay(random.Next(50, 500), Cancelled); // When it is killed is what the test is about.
            await filling.CancelAsync();
            await topic.Broker.KillAsync();
            await fill;
            await topic.Broker.StartAsync();
            TopicStats stats = await topic.StatsAsync();
            Assert.True(DateTimeOffset.UtcNow < due, "The machine is too slow for this test.");
            Assert.Equal(next, stats.DelayedMessages);
            start = stats.StartOffset;
        }
        Assert.True(start > 0, "Retention removed nothing: there was nothing to be copied out of its way.");

        var delivered = new List<int>();
        await foreach (
            Message message in client.ConsumeAsync(
                "t",
                new ConsumeOptions { Start = StartPosition.Latest, GapAction = GapAction.Throw },
                Cancelled
            )
        )
        {
            delivered.Add(int.Parse(message.GetText(), CultureInfo.InvariantCulture));
            if (delivered.Count == next)
                break;
        }
        Assert.Equal(Enumerable.Range(0, next), delivered);
        await Eventually.TrueAsync(
            async () => (await topic.StatsAsync()).DelayedMessages == 0,
            Patience,
            () => "Messages still wait."
        );
    }

    /// <summary>Publishes what makes retention remove, until the broker is killed.</summary>
    private static async Task FillAsync(LightQClient client, CancellationToken cancellationToken)
    {
        try
        {
            await using Producer producer = await client.CreateProducerAsync(
                "t",
                new ProducerOptions { DisposeTimeout = TimeSpan.Zero },
                cancellationToken
            );
            byte[] body = new byte[RetainedTopic.MessageBytes - 24];
            while (!cancellationToken.IsCancellationRequested)
            {
                for (int i = 0; i < 100 && producer.TryPublish(body); i++)
                {
                    // A hundred share a sync.
                }
                await producer.FlushAsync(cancellationToken);
            }
        }
        catch (Exception e) when (e is OperationCanceledException or LightQException)
        {
            // The broker has ended, or is about to.
        }
    }
}

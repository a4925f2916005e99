using System.Collections.Concurrent;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>The broker is killed while it removes what all groups have settled.</summary>
[Collection(FaultCollection.Name)]
public sealed class SettledKillTests
{
    private const int AtOnce = 64;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static readonly string[] Groups = ["billing", "audit"];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Tier", "C")]
    [Trait("Plain", "no")]
    public async Task Kill_9_while_settled_messages_are_removed_leaves_no_group_behind_the_start()
    {
        FaultRun.RequireTier("It kills processes.");
        var run = new FaultRun("settled", "kill -9 while messages are removed that all groups have settled");
        Random random = run.RandomFor(1);
        await using RetainedTopic topic = await RetainedTopic.StartAsync(t => t with { Retention = Retention.Settled });
        LightQClient client = topic.Client;
        ConcurrentDictionary<int, byte>[] seen = [new(), new()];
        using var stopping = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        Task[] consumers = [.. Groups.Select((group, i) => ConsumeAsync(client, group, seen[i], stopping.Token))];
        await Eventually.TrueAsync(
            async () => (await client.Groups.ListAsync("t", Cancelled)).Count == Groups.Length,
            Patience,
            () => "The groups do not begin."
        );
        using var filling = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        Task<int> fill = FillAsync(client, filling.Token);
        long start = 0,
            lastStart = 0;
        int kills = FaultRun.Times(c: 5, n: 200);
        for (int kill = 0; kill < kills; kill++)
        {
            // Something was removed since the last kill.
            await Eventually.TrueAsync(
                async () => (start = (await topic.StatsAsync()).StartOffset) > lastStart,
                Patience,
                () => $"Nothing is removed behind {lastStart}; seed {run.Seed}"
            );
            lastStart = start;
            await Task.Delay(random.Next(0, 600), Cancelled); // When it is killed is what the test is about.
            await topic.Broker.KillAsync();
            await topic.Broker.StartAsync();
            start = (await topic.StatsAsync()).StartOffset;
            foreach (string group in Groups)
            {
                long committed = (await client.Groups.GetAsync("t", group, Cancelled)).Partitions[0].CommittedOffset;
                // Consumers are back by now, so it may only have moved on.
                Assert.True(
                    committed >= start,
                    $"{group} is at {committed}, the log begins at {start}; seed {run.Seed}"
                );
            }
        }
        await filling.CancelAsync();
        int published = await fill;
        foreach (ConcurrentDictionary<int, byte> messages in seen)
        {
            await Eventually.TrueAsync(
                () => messages.Count == published,
                Patience,
                () => $"{messages.Count} of {published} messages came; seed {run.Seed}"
            );
        }

        await stopping.CancelAsync();
        await Task.WhenAll(consumers); // None was told of a gap.
        run.Figure("kills", kills);
        run.Figure("messages", published);
        run.Figure("removed", lastStart);
        run.Report();
    }

    /// <returns>How many were published, numbered from 0.</returns>
    private static async Task<int> FillAsync(LightQClient client, CancellationToken until)
    {
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            new ProducerOptions { Name = "shop" },
            Cancelled
        );
        int next = 0;
        while (!until.IsCancellationRequested)
        {
            await Task.WhenAll(
                Enumerable
                    .Range(next, AtOnce)
                    .Select(number => producer.PublishAsync(Body(number), cancellationToken: Cancelled).AsTask())
            );
            next += AtOnce;
        }
        return next;
    }

    private static byte[] Body(int number)
    {
        byte[] body = new byte[RetainedTopic.MessageBytes / 2];
        BitConverter.TryWriteBytes(body, number);
        return body;
    }

    private static async Task ConsumeAsync(
        LightQClient client,
        string group,
        ConcurrentDictionary<int, byte> seen,
        CancellationToken until
    )
    {
        var options = new ConsumeOptions
        {
            Group = group,
            SettleMode = SettleMode.Explicit,
            GapAction = GapAction.Throw,
        };
        try
        {
            await foreach (Message message in client.ConsumeAsync("t", options, until))
            {
                seen[BitConverter.ToInt32(message.BodySpan)] = 0;
                message.QueueCompletion();
            }
        }
        catch (OperationCanceledException) when (until.IsCancellationRequested) { }
    }
}

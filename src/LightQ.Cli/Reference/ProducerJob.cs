using System.Diagnostics;
using LightQ.Bench.Load;
using LightQ.Client;

namespace LightQ.Cli.Reference;

/// <summary>What <c>producer</c> does.</summary>
/// <param name="settings">What it was told.</param>
/// <param name="size">Bytes of a message.</param>
internal sealed class ProducerJob(TransferSettings settings, int size) : TransferJob(settings)
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(20);

    protected override async Task<TransferResult[]> TransferAsync(
        LostConnection connections,
        CancellationToken cancellationToken
    )
    {
        await AwaitConsumersAsync(cancellationToken);
        return await Task.WhenAll(Settings.Topics.Select(topic => ProduceAsync(topic, connections, cancellationToken)));
    }

    protected override IEnumerable<string> Lines(TransferResult result) =>
        Settings.Style == TransferStyle.Myq ? MyqLines.OfProducer(result) : AncestorLines.OfProducer(result);

    /// <summary>
    /// A transient topic keeps nothing for consumers that come later, so the producer waits.
    /// </summary>
    private async Task AwaitConsumersAsync(CancellationToken cancellationToken)
    {
        await using var client = new LightQClient(Settings.Client);
        foreach (string topic in Settings.Topics)
        {
            if ((await client.Topics.GetAsync(topic, cancellationToken)).Spec.Kind == TopicKind.Durable)
                continue;
            for (
                bool said = false;
                (await client.Stats.GetTopicAsync(topic, cancellationToken)).SubscribersCount == 0;
                said = true
            )
            {
                if (!said)
                {
                    Console.Error.WriteLine(
                        $"Waiting for a consumer of {topic}, which is transient; start 'lightq consumer'."
                    );
                }

                await Task.Delay(PollInterval, cancellationToken);
            }
        }
    }

    private async Task<TransferResult> ProduceAsync(
        string topic,
        LostConnection connections,
        CancellationToken cancellationToken
    )
    {
        var client = new LightQClient(Settings.Client);
        connections.Watch(client);
        await using var load = new LightQBatchProducer(
            client,
            await client.CreateProducerAsync(topic, cancellationToken: cancellationToken),
            size
        );
        await connections.GuardAsync(load.ProduceAsync(Settings.Messages, cancellationToken));
        return new TransferResult
        {
            Topic = topic,
            Messages = Settings.Messages,
            Bytes = Settings.Messages * size,
            FirstSentUs = TransferClock.ToMicroseconds(load.FirstTicks),
            EndUs = TransferClock.ToMicroseconds(Stopwatch.GetTimestamp()),
            WallClockUs = TransferClock.WallClockUs,
        };
    }
}

using LightQ.Bench.Checks;
using LightQ.Bench.Figures;
using LightQ.Bench.Load;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Reference;

/// <summary>What <c>consumer</c> does.</summary>
internal sealed class ConsumerJob(TransferSettings settings) : TransferJob(settings)
{
    /// <summary>
    /// Remembers what of a durable topic was consumed, so that the next run's consumer gets the next run's messages,
    /// whichever of the two starts first.
    /// </summary>
    private const string Group = "lightq-consumer";

    protected override Task<TransferResult[]> TransferAsync(
        LostConnection connections,
        CancellationToken cancellationToken
    ) => Task.WhenAll(Settings.Topics.Select(topic => ConsumeAsync(topic, connections, cancellationToken)));

    protected override IEnumerable<string> Lines(TransferResult result) =>
        Settings.Style == TransferStyle.Myq ? MyqLines.OfConsumer(result) : AncestorLines.OfConsumer(result);

    private async Task<TransferResult> ConsumeAsync(
        string topic,
        LostConnection connections,
        CancellationToken cancellationToken
    )
    {
        var client = new LightQClient(Settings.Client);
        connections.Watch(client);
        bool isDurable = (await client.Topics.GetAsync(topic, cancellationToken)).Spec.Kind == TopicKind.Durable;
        await using var load = new LightQConsumer(
            client,
            topic,
            new ConsumeOptions { Group = isDurable ? Group : null },
            batches: true
        );
        var latency = new LatencyHistogram();
        DeliveryCheck check = DeliveryCheck.OfNextRun(Settings.Messages, latency);
        using var patience = new ConsumePatience(check, cancellationToken);
        await connections.GuardAsync(patience.WaitAsync(load.ConsumeAsync(check, patience.Token)));
        cancellationToken.ThrowIfCancellationRequested();
        if (!check.IsComplete)
        {
            throw new CommandException(
                ExitCode.Failed,
                $"{topic}: nothing came for {ConsumePatience.Limit.TotalSeconds} s, and "
                    + $"{Plural.Of(check.Ledger.Lost(Settings.Messages), "message")} of {Settings.Messages:N0} are "
                    + $"missing. Has the producer ended, or does it send fewer?"
            );
        }
        return new TransferResult
        {
            Topic = topic,
            Messages = Settings.Messages,
            Bytes = Settings.Messages * check.Size,
            FirstSentUs = TransferClock.ToMicroseconds(check.First.Stamp),
            FirstReceivedUs = TransferClock.ToMicroseconds(check.First.Received),
            EndUs = TransferClock.ToMicroseconds(check.LastTicks),
            Skipped = check.Skipped,
            Lost = check.Ledger.Lost(Settings.Messages),
            Duplicated = check.Ledger.Duplicated,
            Reordered = check.Ledger.Reordered,
            Damaged = check.Damaged,
            LatencyUs = LatencyFigures.Of(latency),
            WallClockUs = TransferClock.WallClockUs,
        };
    }
}

using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.IntegrationTests.Faults;

/// <summary>A topic under load and the verification of it.</summary>
internal sealed class FaultTopic(TopicSpec spec)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly Dictionary<(int Partition, int Producer), long> _lastOf = [];
    private readonly long[] _verifiedTo = new long[Math.Max(1, spec.Partitions)];

    public TopicSpec Spec { get; } = spec;

    public PublishLedger Ledger { get; } = new();

    /// <summary>How many producers it has had, where each has a number of its own.</summary>
    public int Producers { get; set; }

    /// <summary>Messages read by verifications.</summary>
    public long Verified { get; private set; }

    /// <summary>Acknowledged messages that went with a crash, as their ack allows.</summary>
    public long Gone { get; private set; }

    /// <summary>The first offset that each partition held at the last verification.</summary>
    public long[] StartOffsets { get; private set; } = new long[Math.Max(1, spec.Partitions)];

    /// <summary>Where each partition ended at the last verification.</summary>
    public long[] EndOffsets { get; private set; } = new long[Math.Max(1, spec.Partitions)];

    /// <summary>Where the only partition ended at the last verification.</summary>
    public long EndOffset => EndOffsets.Single();

    private bool IsRecycled => Spec.RetentionBytes > 0;

    /// <summary>
    /// Reads what is new behind a crash, and judges everything that has been sent. No publish may be under way.
    /// </summary>
    /// <param name="client">A client of the recovered broker.</param>
    /// <param name="survives">The ack level that survives the fault.</param>
    /// <param name="mayHaveFailed">Whether the topic, of one partition, is expected to be read-only.</param>
    public async Task VerifyAsync(LightQClient client, Durability survives, bool mayHaveFailed = false)
    {
        TopicInfo topic = await client.Topics.GetAsync(Spec.Name).WaitAsync(Patience);
        if (topic.Failure.Length != 0 && !mayHaveFailed)
        {
            Ledger.Report($"{Spec.Name} was not recovered: {topic.Failure}");
            return;
        }
        EndOffsets = mayHaveFailed ? [Ledger.AcknowledgedEnd] : [.. topic.EndOffsets];
        for (int partition = 0; partition < EndOffsets.Length; partition++)
        {
            await ReadAsync(client, partition, _verifiedTo[partition], VerifyNew);
            _verifiedTo[partition] = EndOffsets[partition];
        }
        StartOffsets = [.. (await client.Topics.GetAsync(Spec.Name).WaitAsync(Patience)).StartOffsets];
        if (!mayHaveFailed)
            Gone += Ledger.Settle(survives, StartOffsets);
    }

    /// <summary>Reads the whole topic once more: what was there is still there.</summary>
    public async Task VerifyAllAsync(LightQClient client)
    {
        for (int partition = 0; partition < EndOffsets.Length; partition++)
            await ReadAsync(client, partition, 0, VerifyAgain);
    }

    private void VerifyAgain(int partition, long offset, SentMessage? sent)
    {
        if (sent?.FoundAt != LogPlace.Of(partition, offset))
            Ledger.Report($"at {partition}/{offset} of {Spec.Name} is now {sent?.ToString() ?? "what nobody sent"}");
    }

    private void VerifyNew(int partition, long offset, SentMessage? sent)
    {
        Verified++;
        if (sent is null)
        {
            Ledger.Report($"at {partition}/{offset} of {Spec.Name} are bytes that nobody sent");
            return;
        }
        long place = LogPlace.Of(partition, offset);
        if (sent.FoundAt >= 0)
            Ledger.Report($"stored twice, again at {partition}/{offset}: {sent}");
        else if (sent.IsGone)
            Ledger.Report($"came back at {partition}/{offset}: {sent}");
        else if (!sent.TryPlace(place))
            Ledger.Report($"at {partition}/{offset} of {Spec.Name} is {sent}");
        if (_lastOf.TryGetValue((partition, sent.Producer), out long last) && last >= sent.Sequence)
            Ledger.Report($"out of order at {partition}/{offset}, behind message {last}: {sent}");
        sent.FoundAt = place;
        _lastOf[(partition, sent.Producer)] = sent.Sequence;
    }

    /// <summary>Reads up to the end; every offset comes, or belongs to a gap that retention explains.</summary>
    private async Task ReadAsync(LightQClient client, int partition, long next, Action<int, long, SentMessage?> take)
    {
        long end = EndOffsets[partition];
        if (next >= end)
            return;
        using var patience = new CancellationTokenSource(Patience);
        var options = new ConsumeOptions
        {
            Partition = partition,
            Start = StartPosition.Offset(next),
            OnGap = OnGap,
        };
        try
        {
            await foreach (Message message in client.ConsumeAsync(Spec.Name, options).WithCancellation(patience.Token))
            {
                if (message.Offset >= end)
                    return;
                if (message.Offset != next && !(IsRecycled && next == 0))
                    Ledger.Report($"{Spec.Name} gave {partition}/{message.Offset} where {next} was due");
                take(partition, message.Offset, Ledger.Find(message.Body.Span));
                next = message.Offset + 1;
                if (next == end)
                    return;
            }
        }
        catch (OperationCanceledException) when (patience.IsCancellationRequested)
        {
            Ledger.Report($"{Spec.Name}, partition {partition}, ends at {end} and gave nothing from {next} on");
        }

        void OnGap(MessageGap gap)
        {
            if (!IsRecycled || gap.Reason != GapReason.Retention)
            {
                Ledger.Report(
                    $"{Spec.Name}, partition {partition}, has a gap, {gap.FirstOffset} to {gap.LastOffset}: "
                        + $"{gap.Reason}"
                );
            }

            next = gap.LastOffset + 1;
        }
    }
}

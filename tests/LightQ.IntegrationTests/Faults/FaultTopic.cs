using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.IntegrationTests.Faults;

/// <summary>A topic under load and the verification of it.</summary>
internal sealed class FaultTopic(TopicSpec spec)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly Dictionary<int, long> _lastOf = [];
    private long _verifiedTo;

    public TopicSpec Spec { get; } = spec;

    public PublishLedger Ledger { get; } = new();

    /// <summary>Messages read by verifications.</summary>
    public long Verified { get; private set; }

    /// <summary>Acknowledged messages that went with a crash, as their ack allows.</summary>
    public long Gone { get; private set; }

    /// <summary>The first offset the topic held at the last verification.</summary>
    public long StartOffset { get; private set; }

    /// <summary>Where the topic ended at the last verification.</summary>
    public long EndOffset { get; private set; }

    private bool IsRecycled => Spec.RetentionBytes > 0;

    /// <summary>Reads what is new behind a crash, and judges everything that has been sent. No publish may be under way.</summary>
    /// <param name="client">A client of the recovered broker.</param>
    /// <param name="survives">The ack level that survives the fault.</param>
    /// <param name="mayHaveFailed">Whether the topic is expected to be read-only.</param>
    public async Task VerifyAsync(LightQClient client, Durability survives, bool mayHaveFailed = false)
    {
        TopicInfo topic = await client.Topics.GetAsync(Spec.Name).WaitAsync(Patience);
        if (topic.Failure.Length != 0 && !mayHaveFailed)
        {
            Ledger.Report($"{Spec.Name} was not recovered: {topic.Failure}");
            return;
        }
        EndOffset = mayHaveFailed ? Ledger.AcknowledgedEnd : topic.EndOffsets[0];
        await ReadAsync(client, _verifiedTo, VerifyNew);
        _verifiedTo = EndOffset;
        StartOffset = (await client.Topics.GetAsync(Spec.Name).WaitAsync(Patience)).StartOffsets[0];
        if (!mayHaveFailed)
            Gone += Ledger.Settle(survives, StartOffset);
    }

    /// <summary>Reads the whole topic once more: what was there is still there.</summary>
    public Task VerifyAllAsync(LightQClient client) => ReadAsync(client, 0, (offset, sent) =>
    {
        if (sent?.FoundAt != offset)
            Ledger.Report($"at {offset} of {Spec.Name} is now {sent?.ToString() ?? "what nobody sent"}");
    });

    private void VerifyNew(long offset, SentMessage? sent)
    {
        Verified++;
        if (sent is null)
        {
            Ledger.Report($"at {offset} of {Spec.Name} are bytes that nobody sent");
            return;
        }
        if (sent.FoundAt >= 0)
            Ledger.Report($"stored twice, again at {offset}: {sent}");
        else if (sent.IsGone)
            Ledger.Report($"came back at {offset}: {sent}");
        else if (!sent.TryPlace(offset))
            Ledger.Report($"at {offset} of {Spec.Name} is {sent}");
        if (_lastOf.TryGetValue(sent.Producer, out long last) && last >= sent.Sequence)
            Ledger.Report($"out of order at {offset}, behind message {last}: {sent}");
        sent.FoundAt = offset;
        _lastOf[sent.Producer] = sent.Sequence;
    }

    /// <summary>Reads up to the end; every offset comes, or belongs to a gap that retention explains.</summary>
    private async Task ReadAsync(LightQClient client, long next, Action<long, SentMessage?> take)
    {
        if (next >= EndOffset)
            return;
        using var patience = new CancellationTokenSource(Patience);
        try
        {
            await foreach (Message message in client.ConsumeAsync(Spec.Name, new ConsumeOptions { Start = StartPosition.Offset(next), OnGap = OnGap }).WithCancellation(patience.Token))
            {
                if (message.Offset >= EndOffset)
                    return;
                if (message.Offset != next && !(IsRecycled && next == 0))
                    Ledger.Report($"{Spec.Name} gave {message.Offset} where {next} was due");
                take(message.Offset, Ledger.Find(message.Body.Span));
                next = message.Offset + 1;
                if (next == EndOffset)
                    return;
            }
        }
        catch (OperationCanceledException) when (patience.IsCancellationRequested)
        {
            Ledger.Report($"{Spec.Name} ends at {EndOffset} and gave nothing from {next} on");
        }

        void OnGap(MessageGap gap)
        {
            if (!IsRecycled || gap.Reason != GapReason.Retention)
                Ledger.Report($"{Spec.Name} has a gap, {gap.FirstOffset} to {gap.LastOffset}: {gap.Reason}");
            next = gap.LastOffset + 1;
        }
    }
}

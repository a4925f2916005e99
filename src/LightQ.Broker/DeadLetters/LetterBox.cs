using LightQ.Broker.Topics;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.DeadLetters;

/// <summary>
/// Where the letters of a dead-letter topic are put: into its log here, or at the node that leads it.
/// </summary>
/// <remarks>
/// Into its first partition, whichever others it has: there a redrive looks for them.
/// </remarks>
internal sealed class LetterBox : IDisposable
{
    private readonly InternalProducer? _producer;
    private readonly ILetterCarrier? _carrier;

    /// <exception cref="BrokerException">The topic is unknown or takes no messages.</exception>
    public LetterBox(LightQBroker broker, string topic)
    {
        Topic = broker.GetTopic(topic);
        if (broker.LetterCarrier is { } carrier && LetterPage.IsElsewhere(Topic))
            _carrier = carrier;
        else
            _producer = new InternalProducer(broker, topic, Durability.Fsync, partition: 0);
    }

    /// <summary>The topic.</summary>
    public Topic Topic { get; }

    /// <summary>Where the topic ends, as far as another node has said; null where it is here.</summary>
    public long? End { get; private set; }

    /// <summary>
    /// Where the topic ended before the last batch was put, or a lower offset; null before the first one.
    /// </summary>
    public long? Before { get; private set; }

    /// <summary>The largest batch that the topic takes, in bytes.</summary>
    public int MaxBatchBytes => _producer?.MaxBatchBytes ?? Topic.Settings.MaxBatchBytes;

    /// <summary>Stores a batch; completes when it is safe.</summary>
    /// <exception cref="BrokerException">It was refused; the box is of no use any more.</exception>
    public async Task PutAsync(ReadOnlyMemory<byte> batch, int count, CancellationToken cancellationToken)
    {
        if (_carrier is null)
        {
            Before = Topic.Partitions[0].Log.ReadableOffset;
            // On a full disk the publish may not complete.
            await _producer!.PublishAsync(batch.Span, count).WaitAsync(cancellationToken).ConfigureAwait(false);
            return;
        }
        Before = End ?? (await _carrier.ReadAsync(Topic, long.MaxValue, cancellationToken).ConfigureAwait(false)).End;
        (_, End) = await _carrier.AppendAsync(Topic, batch, count, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Looks for letters that may have been stored though the answer was lost, from an offset to the topic's end.
    /// </summary>
    /// <param name="from">The offset.</param>
    /// <param name="isMeant">Whether a letter is one of those.</param>
    /// <param name="cancellationToken">Ends the search.</param>
    /// <returns>The offset of the last such letter's original; null when there is none.</returns>
    /// <exception cref="BrokerException">The topic cannot be opened.</exception>
    /// <exception cref="IOException">It cannot be read now.</exception>
    public async Task<long?> FindAsync(long from, Func<LetterOrigin, bool> isMeant, CancellationToken cancellationToken)
    {
        long? last = null;
        LetterPage page;
        do
        {
            page = await LetterPage.ReadAsync(Topic, from, _carrier, cancellationToken).ConfigureAwait(false);
            foreach (LetterOrigin letter in page.Batches.SelectMany(b => OriginsIn(b, from)).Where(isMeant))
                last = Math.Max(last ?? 0, letter.Offset);
            from = page.Next;
        } while (from < page.End);
        if (_carrier is not null)
            End = page.End;
        return last;
    }

    private static List<LetterOrigin> OriginsIn(byte[] batch, long from)
    {
        var view = new BatchView(batch);
        List<LetterOrigin> origins = [];
        if (!DeadLetterBatch.HoldsLetters(view))
            return origins; // The broker did not write this message.
        foreach (RecordView record in view.Records)
        {
            if (record.Offset >= from && LetterOrigin.TryRead(record, out LetterOrigin origin))
                origins.Add(origin);
        }
        return origins;
    }

    /// <inheritdoc/>
    public void Dispose() => _producer?.Dispose();
}

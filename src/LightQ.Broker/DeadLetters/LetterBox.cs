using LightQ.Broker.Topics;

namespace LightQ.Broker.DeadLetters;

/// <summary>
/// Where the letters of a dead-letter topic are put: into its log here, or at the node that leads it.
/// </summary>
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
            _producer = new InternalProducer(broker, topic, Durability.Fsync);
    }

    /// <summary>The topic.</summary>
    public Topic Topic { get; }

    /// <summary>Where the topic ends, as far as another node has said; null where it is here.</summary>
    public long? End { get; private set; }

    /// <summary>The largest batch that the topic takes, in bytes.</summary>
    public int MaxBatchBytes => _producer?.MaxBatchBytes ?? Topic.Settings.MaxBatchBytes;

    /// <summary>Stores a batch; completes when it is safe.</summary>
    /// <exception cref="BrokerException">It was refused; the box is of no use any more.</exception>
    public async Task PutAsync(ReadOnlyMemory<byte> batch, int count, CancellationToken cancellationToken)
    {
        // On a full disk the publish may not complete.
        if (_carrier is null)
            await _producer!.PublishAsync(batch.Span, count).WaitAsync(cancellationToken).ConfigureAwait(false);
        else
            (_, End) = await _carrier.AppendAsync(Topic, batch, count, cancellationToken).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public void Dispose() => _producer?.Dispose();
}

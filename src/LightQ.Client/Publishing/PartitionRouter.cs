using LightQ.Protocol.Batches;

namespace LightQ.Client.Publishing;

/// <summary>
/// Chooses the partition of each message of a producer on a topic with several: by its key, or any that is being filled
/// or has room.
/// </summary>
/// <remarks>
/// Thread-safe. Remembers a little without locks: a race costs a smaller batch or a wait for another partition, never
/// an order.
/// </remarks>
internal sealed class PartitionRouter
{
    private readonly ProducerStream[] _streams;
    private int _current;
    private int _refused;

    /// <param name="streams">The streams, by partition.</param>
    public PartitionRouter(ProducerStream[] streams) => _streams = streams;

    public IReadOnlyList<ProducerStream> Streams => _streams;

    public int Count => _streams.Length;

    /// <summary>Why one of the partitions takes no messages; null when all do.</summary>
    public LightQException? Failure => Array.Find(_streams, static s => s.Failure is not null)?.Failure;

    /// <summary>Whether one of the partitions takes no messages for good.</summary>
    public bool IsBroken => Array.Exists(_streams, static s => s.IsBroken);

    /// <summary>Whether nothing is under way on any partition.</summary>
    public bool IsIdle => Array.TrueForAll(_streams, static s => s.IsIdle);

    /// <summary>The partition of a key.</summary>
    public int PartitionOf(in MessageKey key) => key.PartitionOf(_streams.Length);

    /// <summary>
    /// The stream of a key; without one, of the message's id; without either, of the partition that takes messages
    /// without a key at the moment.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="recordLength">How long the message is as a record.</param>
    /// <param name="properties">When it is due and when it expires, and its id.</param>
    public ProducerStream Choose(in MessageKey key, int recordLength, in BatchProperties properties)
    {
        if (key.HasValue)
            return _streams[PartitionOf(key)];
        return properties.MessageId is { } id ? _streams[PartitionOf(id)] : ChooseAny(recordLength, properties);
    }

    /// <summary>Remembers the partition that had no room.</summary>
    /// <returns>False.</returns>
    public bool Refused(ProducerStream stream)
    {
        Volatile.Write(ref _refused, stream.Partition);
        return false;
    }

    /// <summary>Waits for the partition that had no room last.</summary>
    public ValueTask WaitForRoomAsync(CancellationToken cancellationToken) =>
        ServedOr(Volatile.Read(ref _refused)).WaitForRoomAsync(cancellationToken);

    public Task FlushAsync() => Task.WhenAll(_streams.Select(s => s.FlushAsync()));

    public void Retire()
    {
        foreach (ProducerStream stream in _streams)
            stream.Retire();
    }

    public void Close()
    {
        foreach (ProducerStream stream in _streams)
            stream.Close();
    }

    /// <summary>
    /// What ended one partition's stream ends all of them: the name was taken over, or the topic is gone. Does not
    /// wait: the caller holds that stream's gate.
    /// </summary>
    public void FaultAll(LightQException reason) =>
        ThreadPool.QueueUserWorkItem(
            static state =>
            {
                foreach (ProducerStream stream in state.Router._streams)
                    stream.FaultWith(state.Reason);
            },
            (Router: this, Reason: reason),
            preferLocal: false
        );

    /// <summary>
    /// Stays with a partition until the batch that is being filled there is full or sent, then goes to the next one
    /// with room.
    /// </summary>
    private ProducerStream ChooseAny(int recordLength, in BatchProperties properties)
    {
        int current = Volatile.Read(ref _current);
        if (_streams[current].IsFilling(recordLength, properties))
            return _streams[current];
        for (int i = 1; i <= _streams.Length; i++)
        {
            int next = (current + i) % _streams.Length;
            if (!_streams[next].HasRoom())
                continue;
            Volatile.Write(ref _current, next);
            return _streams[next];
        }
        return ServedOr(current);
    }

    /// <summary>A partition, or, if the broker does not serve it, one that it serves.</summary>
    private ProducerStream ServedOr(int partition)
    {
        ProducerStream stream = _streams[partition];
        return stream.Failure is null ? stream : Array.Find(_streams, static s => s.Failure is null) ?? stream;
    }
}

using LightQ.Client.Batches;
using LightQ.Client.Publishing;
using LightQ.Client.Telemetry;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>Collects messages that are published together: the fastest way to publish.</summary>
/// <remarks>
/// Created by <see cref="Producer.CreateBatch"/>, and reusable: once its content is published it is empty, and may be
/// filled again at once. Not thread-safe. Dispose it to return its memory to the pool. A batch goes to one partition.
/// On a topic with several, that is the one it was created for, or the one that its first message belongs to.
/// </remarks>
/// <example>
/// <code>
/// using BatchBuilder batch = producer.CreateBatch();
/// while (batch.TryAdd(NextMessage()))
/// {
/// }
/// PublishAck ack = await producer.PublishAsync(batch);
/// </code>
/// </example>
public sealed class BatchBuilder : IDisposable
{
    private readonly PartitionRouter? _router;
    private readonly MessageClock _clock;
    private readonly PublishOptions _options;
    private ProducerStream _stream;
    private SendBatch? _batch;
    private bool _isDisposed;

    /// <param name="producer">Who made it.</param>
    /// <param name="stream">Where its batches go, as long as <paramref name="router"/> does not say otherwise.</param>
    /// <param name="router">Chooses for each batch; null when all go to one partition.</param>
    /// <param name="clock">Says the times of each batch.</param>
    /// <param name="options">What they are to be.</param>
    internal BatchBuilder(
        Producer producer,
        ProducerStream stream,
        PartitionRouter? router,
        MessageClock clock,
        in PublishOptions options
    )
    {
        Producer = producer;
        _stream = stream;
        _router = router;
        _clock = clock;
        _options = options;
    }

    /// <summary>How many messages it holds.</summary>
    public int Count => _batch?.Count ?? 0;

    /// <summary>How long the batch would be if it were published now, in bytes.</summary>
    public int ByteCount => _batch?.Length ?? 0;

    internal Producer Producer { get; }

    internal ProducerStream Stream => _stream;

    internal SendBatch Filled =>
        _batch is { Count: > 0 } filled ? filled : throw new InvalidOperationException("The batch is empty.");

    /// <summary>Adds a message without key and headers.</summary>
    /// <param name="body">The body; copied.</param>
    /// <returns>
    /// False when the batch has no room for it: publish first. A message larger than a whole batch never fits: publish
    /// it alone, up to the topic's limit.
    /// </returns>
    public bool TryAdd(ReadOnlySpan<byte> body)
    {
        SendBatch batch = _batch ?? Rent(default, body.Length, null);
        if (!_stream.Fits(RecordLayout.FixedSize + (long)body.Length, batch.Properties))
            return false;
        return Instruments.Source.HasListeners()
            ? TracedPublishing.TryAdd(_stream, batch, body, default, null)
            : batch.TryAdd(body);
    }

    /// <summary>Adds a message.</summary>
    /// <param name="body">The body; copied.</param>
    /// <param name="key">The key, or default for none; copied.</param>
    /// <param name="headers">The headers, or null; copied.</param>
    /// <returns>
    /// False when the batch has no room for it, or goes to a partition other than the key's: publish first.
    /// </returns>
    public bool TryAdd(ReadOnlySpan<byte> body, MessageKey key, MessageHeaders? headers = null)
    {
        if (_router is not null && key.HasValue && Count > 0 && _router.PartitionOf(key) != _stream.Partition)
            return false;
        SendBatch batch =
            _batch is { } begun && (_router is null || begun.Count > 0) ? begun : Rent(key, body.Length, headers);
        if (!_stream.Fits(SendBatch.RecordLength(body.Length, key, headers), batch.Properties))
            return false;
        return Instruments.Source.HasListeners()
            ? TracedPublishing.TryAdd(_stream, batch, body, key, headers)
            : batch.TryAdd(body, key, headers);
    }

    /// <summary>Returns the memory to the pool. Messages that were not published are discarded.</summary>
    public void Dispose()
    {
        _isDisposed = true;
        _batch?.Release();
        _batch = null;
    }

    internal void Forget() => _batch = null;

    /// <summary>Begins a batch; where several partitions are to choose from, its first message does.</summary>
    private SendBatch Rent(in MessageKey key, int bodyLength, MessageHeaders? headers)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        BatchProperties properties = _batch?.Properties ?? _clock.Stamp(_options);
        if (_router is not null)
            _stream = _router.Choose(key, SendBatch.RecordLength(bodyLength, key, headers), properties);
        _stream.CheckTimes(properties);
        return _batch ??= _stream.RentBatch(properties);
    }
}

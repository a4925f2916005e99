using LightQ.Client.Publishing;

namespace LightQ.Client;

/// <summary>Collects messages that are published together: the fastest way to publish.</summary>
/// <remarks>
/// Made by <see cref="Producer.CreateBatch"/> and used again and again: once its content is published it is empty and may be
/// filled anew at once. Not thread-safe. Dispose it to give its memory back.
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
    private readonly ProducerStream _stream;
    private readonly MessageClock _clock;
    private readonly PublishOptions _options;
    private SendBatch? _batch;
    private bool _isDisposed;

    internal BatchBuilder(ProducerStream stream, MessageClock clock, in PublishOptions options)
    {
        _stream = stream;
        _clock = clock;
        _options = options;
    }

    /// <summary>How many messages it holds.</summary>
    public int Count => _batch?.Count ?? 0;

    /// <summary>How long the batch would be if it were published now, in bytes.</summary>
    public int ByteCount => _batch?.Length ?? 0;

    internal ProducerStream Stream => _stream;

    /// <summary>Adds a message without key and headers.</summary>
    /// <param name="body">The body; copied.</param>
    /// <returns>False when the batch has no room for it: publish first. A message larger than a whole batch never fits; publish it alone.</returns>
    public bool TryAdd(ReadOnlySpan<byte> body) => (_batch ?? Rent()).TryAdd(body);

    /// <summary>Adds a message.</summary>
    /// <param name="body">The body; copied.</param>
    /// <param name="key">The key, or default for none; copied.</param>
    /// <param name="headers">The headers, or null; copied.</param>
    /// <returns>False when the batch has no room for it: publish first.</returns>
    public bool TryAdd(ReadOnlySpan<byte> body, MessageKey key, MessageHeaders? headers = null) => (_batch ?? Rent()).TryAdd(body, key, headers);

    /// <summary>Gives the memory back; what was not published is gone.</summary>
    public void Dispose()
    {
        _isDisposed = true;
        _batch?.Release();
        _batch = null;
    }

    internal SendBatch Filled => _batch is { Count: > 0 } filled ? filled : throw new InvalidOperationException("The batch is empty.");

    internal void Forget() => _batch = null;

    private SendBatch Rent()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        return _batch = _stream.RentBatch(_clock.Stamp(_options));
    }
}

using System.Buffers;

namespace LightQ.Client;

/// <summary>
/// Publishes values to one topic. Created by
/// <see cref="LightQClient.CreateProducerAsync{T}(string, IMessageSerializer{T}, ProducerOptions?, CancellationToken)"/>;
/// keep it, do not create one per message.
/// </summary>
/// <typeparam name="T">The type of the published values.</typeparam>
/// <remarks>
/// A <see cref="Producer"/> with a serializer in front of it: order, threads, windows and errors are the same. Every
/// message gets a header with the serializer's content type, unless its own headers have one.
/// </remarks>
/// <example>
/// <code>
/// await using Producer&lt;Order&gt; producer = await client.CreateProducerAsync("orders", json);
/// await producer.PublishAsync(new Order("42", 9.99m), key: "42");
/// </code>
/// </example>
public sealed class Producer<T> : IAsyncDisposable
{
    /// <summary>A buffer that grew beyond this is not kept.</summary>
    private const int MostKept = 1024 * 1024;

    private readonly IMessageSerializer<T> _serializer;
    private readonly MessageHeaders _contentType;
    private ArrayBufferWriter<byte>? _spare;

    internal Producer(Producer raw, IMessageSerializer<T> serializer)
    {
        Raw = raw;
        _serializer = serializer;
        _contentType = MessageHeaders.WithContentType(null, serializer.ContentType);
    }

    /// <summary>The producer underneath: use it to flush, to wait for room, or to publish bytes.</summary>
    public Producer Raw { get; }

    /// <summary>Publishes a value and waits for its ack.</summary>
    /// <param name="value">The value; serialized before the method returns.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">
    /// The headers, or null. Headers that are used for many messages cost nothing per message if they contain a
    /// content-type.
    /// </param>
    /// <param name="options">When the message is delivered and how long it is of use.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>
    /// As for
    /// <see cref="Producer.PublishAsync(ReadOnlyMemory{byte}, MessageKey, MessageHeaders?, CancellationToken)"/>.
    /// </returns>
    /// <exception cref="LightQException">
    /// The message was rejected, or its outcome is unknown. An exception of the serializer is thrown as it is, and
    /// nothing is published.
    /// </exception>
    public ValueTask<PublishAck> PublishAsync(
        T value,
        MessageKey key = default,
        MessageHeaders? headers = null,
        PublishOptions options = default,
        CancellationToken cancellationToken = default
    )
    {
        ArrayBufferWriter<byte> body = Serialize(value);
        ValueTask<PublishAck> ack = Raw.PublishAsync(
            body.WrittenMemory,
            options,
            key,
            Describe(headers),
            cancellationToken
        );
        Return(body);
        return ack;
    }

    /// <summary>
    /// Publishes a value without waiting for anything. <see cref="Producer.FlushAsync"/> of <see cref="Raw"/> reports
    /// whether it was stored.
    /// </summary>
    /// <param name="value">The value.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null; as for <see cref="PublishAsync"/>.</param>
    /// <param name="options">When the message is delivered and how long it is of use.</param>
    /// <returns>False when the window is full: nothing was published.</returns>
    /// <exception cref="LightQException">As for <see cref="Producer.TryPublish(ReadOnlySpan{byte})"/>.</exception>
    public bool TryPublish(
        T value,
        MessageKey key = default,
        MessageHeaders? headers = null,
        PublishOptions options = default
    )
    {
        ArrayBufferWriter<byte> body = Serialize(value);
        bool isPublished = Raw.TryPublish(body.WrittenSpan, options, key, Describe(headers));
        Return(body);
        return isPublished;
    }

    /// <summary>Disposes <see cref="Raw"/>.</summary>
    public ValueTask DisposeAsync() => Raw.DisposeAsync();

    private ArrayBufferWriter<byte> Serialize(T value)
    {
        // Out of others' reach while in use: another thread makes one of its own.
        ArrayBufferWriter<byte> body = Interlocked.Exchange(ref _spare, null) ?? new ArrayBufferWriter<byte>();
        body.ResetWrittenCount();
        _serializer.Serialize(value, body);
        return body;
    }

    private void Return(ArrayBufferWriter<byte> body)
    {
        if (body.Capacity <= MostKept)
            Volatile.Write(ref _spare, body);
    }

    private MessageHeaders Describe(MessageHeaders? headers) =>
        headers is null or { Count: 0 }
            ? _contentType
            : MessageHeaders.WithContentType(headers, _serializer.ContentType);
}

using LightQ.Client.Batches;
using LightQ.Client.Publishing;
using LightQ.Client.Telemetry;
using LightQ.Protocol.Batches;

namespace LightQ.Client;

/// <summary>
/// Publishes to one topic. Created by
/// <see cref="LightQClient.CreateProducerAsync(string, ProducerOptions?, CancellationToken)"/>; keep it, do not create
/// one per message.
/// </summary>
/// <remarks>
/// Thread-safe. Messages published by one thread are stored in that order. No message waits for a batch to fill:
/// messages that are published during a send go out together with the next. When the connection is lost, the producer
/// resumes on the next one and sends the messages that were not sent. A named producer sends the messages without an
/// ack again, and the broker stores each once. For an anonymous producer they fail with
/// <see cref="ErrorCode.OutcomeUnknown"/>. A message that the topic does not take fails alone. After an error of the
/// broker, like a full disk, what is under way behind the failed message fails with
/// <see cref="ErrorCode.StreamBroken"/>. Messages published after that are new ones.
/// <para>
/// On a topic with several partitions, order, window and errors are per partition. A message with a key goes to the
/// partition of the key (<see cref="PartitionOf"/>), so that messages with the same key stay in order. A message
/// without a key goes to any partition that has room. The producer stays with one until the batch that it fills there
/// is full or sent, and then moves to the next. A producer with a <see cref="ProducerOptions.Partition"/>, or one for
/// <c>orders/3</c>, publishes everything to that partition.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// await using Producer producer = await client.CreateProducerAsync("orders");
/// PublishAck ack = await producer.PublishAsync(body, key: "42");          // stored, at ack.Offset
///
/// while (!producer.TryPublish(body))                                      // or without waiting for acks
///     await producer.WaitForRoomAsync();
/// await producer.FlushAsync();                                            // all stored, or the first error
/// </code>
/// </example>
public sealed class Producer : IAsyncDisposable
{
    private readonly ProducerStream _stream;
    private readonly PartitionRouter? _router;
    private readonly ProducerOptions _options;
    private readonly TimeProvider _time;
    private readonly MessageClock _clock;
    private int _isDisposed;

    /// <param name="stream">The only stream, or the first of several.</param>
    /// <param name="router">Chooses among several; null when there is one, to which every call goes directly.</param>
    /// <param name="options">What it was made with.</param>
    /// <param name="time">The clock.</param>
    /// <param name="ended">See <see cref="Ended"/>.</param>
    internal Producer(
        ProducerStream stream,
        PartitionRouter? router,
        ProducerOptions options,
        TimeProvider time,
        Task<LightQException> ended
    )
    {
        Ended = ended;
        _stream = stream;
        _router = router;
        _options = options;
        _time = time;
        _clock = new MessageClock(() => stream.Now, options.TimeToLive);
    }

    // One look for each publish is all that tracing costs while nobody listens.
    private static bool IsTraced => Instruments.Source.HasListeners();

    /// <summary>The topic's name.</summary>
    public string Topic => _stream.Topic;

    /// <summary>The partition that the producer publishes to; null when it publishes to several.</summary>
    public int? Partition => _router is null ? _stream.Partition : null;

    /// <summary>How many partitions the topic has.</summary>
    public int PartitionCount => _stream.PartitionCount;

    /// <summary>Why it, or a partition of it, takes no messages, as far as is known.</summary>
    internal LightQException? Failure => _router is null ? _stream.Failure : _router.Failure;

    /// <summary>Whether it, or a partition of it, takes no messages for good: another producer may.</summary>
    internal bool IsBroken => _router is null ? _stream.IsBroken : _router.IsBroken;

    /// <summary>
    /// Completes when it takes no messages for good any more, with the reason; is cancelled when it is disposed before.
    /// Continuations may run under a stream's gate.
    /// </summary>
    internal Task<LightQException> Ended { get; }

    /// <summary>Whether nothing of it is under way.</summary>
    internal bool IsIdle => _router is null ? _stream.IsIdle : _router.IsIdle;

    /// <summary>
    /// The partition of the topic that messages with a key belong to: CRC-32C(key) mod <see cref="PartitionCount"/>.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <exception cref="ArgumentException">There is no key.</exception>
    public int PartitionOf(MessageKey key) =>
        key.HasValue
            ? key.PartitionOf(PartitionCount)
            : throw new ArgumentException("A message without a key belongs to no partition.", nameof(key));

    /// <summary>Publishes a message and waits for its ack.</summary>
    /// <param name="body">The body; copied before the method returns.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>
    /// Completes, on the thread pool, when the message is as safe as the ack level requires. Waits for room when the
    /// window is full. Await it once.
    /// </returns>
    /// <exception cref="LightQException">The message was rejected, or its outcome is unknown.</exception>
    public ValueTask<PublishAck> PublishAsync(
        ReadOnlyMemory<byte> body,
        MessageKey key = default,
        MessageHeaders? headers = null,
        CancellationToken cancellationToken = default
    ) => Publish(body.Span, key, headers, _clock.Stamp(default), cancellationToken);

    /// <summary>Publishes a message and waits for its ack.</summary>
    /// <param name="body">The body; copied before the method returns.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>
    /// Completes, on the thread pool, when the message is as safe as the ack level requires. Waits for room when the
    /// window is full. Await it once.
    /// </returns>
    /// <exception cref="LightQException">The message was rejected, or its outcome is unknown.</exception>
    public ValueTask<PublishAck> PublishAsync(
        ReadOnlySpan<byte> body,
        MessageKey key = default,
        MessageHeaders? headers = null,
        CancellationToken cancellationToken = default
    ) => Publish(body, key, headers, _clock.Stamp(default), cancellationToken);

    /// <summary>Publishes a message with its own options and waits for its ack.</summary>
    /// <param name="body">The body; copied before the method returns.</param>
    /// <param name="options">When the message is delivered, how long it is of use, and its id.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>
    /// Completes, on the thread pool, when the message is as safe as the ack level requires. Waits for room when the
    /// window is full. Await it once.
    /// </returns>
    /// <exception cref="LightQException">The message was rejected, or its outcome is unknown.</exception>
    public ValueTask<PublishAck> PublishAsync(
        ReadOnlyMemory<byte> body,
        in PublishOptions options,
        MessageKey key = default,
        MessageHeaders? headers = null,
        CancellationToken cancellationToken = default
    ) => Publish(body.Span, key, headers, _clock.Stamp(options), cancellationToken);

    /// <summary>Publishes a message with its own options and waits for its ack.</summary>
    /// <param name="body">The body; copied before the method returns.</param>
    /// <param name="options">When the message is delivered, how long it is of use, and its id.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>
    /// Completes, on the thread pool, when the message is as safe as the ack level requires. Waits for room when the
    /// window is full. Await it once.
    /// </returns>
    /// <exception cref="LightQException">The message was rejected, or its outcome is unknown.</exception>
    public ValueTask<PublishAck> PublishAsync(
        ReadOnlySpan<byte> body,
        in PublishOptions options,
        MessageKey key = default,
        MessageHeaders? headers = null,
        CancellationToken cancellationToken = default
    ) => Publish(body, key, headers, _clock.Stamp(options), cancellationToken);

    /// <summary>
    /// Publishes a tombstone and waits for its ack. A tombstone is a message without a body; it says that the last
    /// value of its key was deleted.
    /// </summary>
    /// <param name="key">The key; it is required.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>As for any message.</returns>
    /// <exception cref="ArgumentException">There is no key.</exception>
    /// <exception cref="LightQException">The message was rejected, or its outcome is unknown.</exception>
    public ValueTask<PublishAck> PublishTombstoneAsync(
        MessageKey key,
        MessageHeaders? headers = null,
        CancellationToken cancellationToken = default
    ) => Publish(default, OfTombstone(key), headers, _clock.Stamp(default), cancellationToken);

    /// <summary>
    /// Publishes a tombstone without waiting for anything. <see cref="FlushAsync"/> reports whether it was stored.
    /// </summary>
    /// <param name="key">The key; it is required.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <returns>False when the window is full: nothing was published.</returns>
    /// <exception cref="ArgumentException">There is no key.</exception>
    /// <exception cref="LightQException">
    /// The producer has failed for good, the message is too large, or (once) an earlier message was not stored.
    /// </exception>
    public bool TryPublishTombstone(MessageKey key, MessageHeaders? headers = null) =>
        TryPublish(default, OfTombstone(key), headers, _clock.Stamp(default));

    /// <summary>Publishes a whole batch and waits for its ack. The builder is empty when this returns.</summary>
    /// <param name="batch">A batch of this producer with at least one message.</param>
    /// <param name="cancellationToken">Ends the wait. The messages may be stored nevertheless.</param>
    /// <returns>The ack of all its messages: <see cref="PublishAck.Offset"/> is the first one's.</returns>
    /// <exception cref="LightQException">The batch was rejected, or its outcome is unknown.</exception>
    public ValueTask<PublishAck> PublishAsync(BatchBuilder batch, CancellationToken cancellationToken = default)
    {
        SendBatch filled = FilledOf(batch);
        ValueTask<PublishAck> ack = IsTraced
            ? TracedPublishing.PublishAsync(batch.Stream, filled, cancellationToken)
            : batch.Stream.PublishAsync(filled, cancellationToken);
        if (!ack.IsCanceled)
            batch.Forget();
        return ack;
    }

    /// <summary>
    /// Publishes a message without waiting for anything. <see cref="FlushAsync"/> reports whether it was stored.
    /// </summary>
    /// <param name="body">The body; copied.</param>
    /// <returns>
    /// False when the window is full: nothing was published. <see cref="WaitForRoomAsync"/> waits until there is room
    /// again.
    /// </returns>
    /// <exception cref="LightQException">
    /// The producer has failed for good, the message is too large, or (once) an earlier message was not stored.
    /// </exception>
    public bool TryPublish(ReadOnlySpan<byte> body) =>
        _router is null && _clock.IsPlain && !IsTraced
            ? _stream.TryPublish(body)
            : TryPublish(body, default, null, _clock.Stamp(default));

    /// <summary>
    /// Publishes a message without waiting for anything. <see cref="FlushAsync"/> reports whether it was stored.
    /// </summary>
    /// <param name="body">The body; copied.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <returns>False when the window is full: nothing was published.</returns>
    /// <exception cref="LightQException">
    /// The producer has failed for good, the message is too large, or (once) an earlier message was not stored.
    /// </exception>
    public bool TryPublish(ReadOnlySpan<byte> body, MessageKey key, MessageHeaders? headers = null) =>
        TryPublish(body, key, headers, _clock.Stamp(default));

    /// <summary>
    /// Publishes a message with its own options, without waiting for anything. <see cref="FlushAsync"/> reports whether
    /// it was stored.
    /// </summary>
    /// <param name="body">The body; copied.</param>
    /// <param name="options">When the message is delivered, how long it is of use, and its id.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <returns>False when the window is full: nothing was published.</returns>
    /// <exception cref="LightQException">
    /// The producer has failed for good, the message is too large, or (once) an earlier message was not stored.
    /// </exception>
    public bool TryPublish(
        ReadOnlySpan<byte> body,
        in PublishOptions options,
        MessageKey key = default,
        MessageHeaders? headers = null
    ) => TryPublish(body, key, headers, _clock.Stamp(options));

    /// <summary>Publishes a whole batch without waiting for anything. When it succeeds, the builder is empty.</summary>
    /// <param name="batch">A batch of this producer with at least one message.</param>
    /// <returns>False when the window is full: nothing was published and the batch is as it was.</returns>
    /// <exception cref="LightQException">
    /// The producer has failed for good, or (once) an earlier message was not stored.
    /// </exception>
    public bool TryPublish(BatchBuilder batch)
    {
        SendBatch filled = FilledOf(batch);
        if (!(IsTraced ? TracedPublishing.TryPublish(batch.Stream, filled) : batch.Stream.TryPublish(filled)))
            return _router is not null && _router.Refused(batch.Stream);
        batch.Forget();
        return true;
    }

    /// <summary>Creates an empty batch to fill and publish, as often as you like.</summary>
    /// <param name="options">
    /// When its messages are delivered and how long they are of use; time counts from when the first message is added.
    /// </param>
    /// <param name="partition">
    /// The partition that it goes to, whatever the keys of its messages are. Null (the default): on a topic with
    /// several partitions, the batch goes to the partition of its first message each time, and accepts no message whose
    /// key belongs to another.
    /// </param>
    /// <exception cref="ArgumentException">The options have a message id.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The producer does not publish to that partition.</exception>
    public BatchBuilder CreateBatch(PublishOptions options = default, int? partition = null)
    {
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        if (options.MessageId is not null)
        {
            throw new ArgumentException(
                "A message with an id has a batch of its own: publish it by itself.",
                nameof(options)
            );
        }

        if (partition is not { } wanted)
            return new BatchBuilder(this, _stream, _router, _clock, options);
        ProducerStream? stream = _router is null ? _stream : _router.Streams.ElementAtOrDefault(wanted);
        if (stream is null || stream.Partition != wanted)
        {
            string there = _router is null ? $"partition {_stream.Partition}" : $"partitions 0 to {_router.Count - 1}";
            throw new ArgumentOutOfRangeException(nameof(partition), wanted, $"This producer publishes to {there}.");
        }

        return new BatchBuilder(this, stream, null, _clock, options);
    }

    /// <summary>
    /// Waits until there is room again after a publish that returned false: half of the window; with several
    /// partitions, that of the partition which had no room last. Another thread may use the room first.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">The producer has failed for good.</exception>
    public ValueTask WaitForRoomAsync(CancellationToken cancellationToken = default) =>
        _router is null ? _stream.WaitForRoomAsync(cancellationToken) : _router.WaitForRoomAsync(cancellationToken);

    /// <summary>Waits until every message published before is acknowledged.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// The first error since the last flush, even if the publish itself reported it already.
    /// </exception>
    public Task FlushAsync(CancellationToken cancellationToken = default)
    {
        Task flushed = FlushAllAsync();
        return flushed.IsCompleted ? flushed : flushed.WaitAsync(cancellationToken);
    }

    /// <summary>
    /// Waits up to <see cref="ProducerOptions.DisposeTimeout"/> for the messages under way, then closes. Publishes
    /// without an ack by then fail with <see cref="ErrorCode.Closed"/>. Throws nothing: to learn of errors, call
    /// <see cref="FlushAsync"/> first.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0)
            return;
        try
        {
            if (_options.DisposeTimeout > TimeSpan.Zero)
                await FlushAllAsync().WaitAsync(_options.DisposeTimeout, _time).ConfigureAwait(false);
        }
        catch (Exception e) when (e is LightQException or TimeoutException)
        {
            // Every message's own outcome was or is now being reported to its publisher.
        }
        if (_router is null)
            _stream.Close();
        else
            _router.Close();
    }

    /// <summary>
    /// Takes nothing new, which the caller learns before its message is taken; closes when all is settled.
    /// </summary>
    internal async Task RetireAsync()
    {
        if (_router is null)
            _stream.Retire();
        else
            _router.Retire();
        // What failed was reported to its publisher.
        await FlushAllAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await DisposeAsync().ConfigureAwait(false);
    }

    private ValueTask<PublishAck> Publish(
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers,
        in BatchProperties properties,
        CancellationToken cancellationToken
    )
    {
        ProducerStream stream = Choose(body.Length, key, headers, properties);
        return IsTraced
            ? TracedPublishing.PublishAsync(stream, body, key, headers, properties, cancellationToken)
            : stream.PublishAsync(body, key, headers, properties, cancellationToken);
    }

    private bool TryPublish(
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers,
        in BatchProperties properties
    )
    {
        ProducerStream stream = Choose(body.Length, key, headers, properties);
        return (
                IsTraced
                    ? TracedPublishing.TryPublish(stream, body, key, headers, properties)
                    : stream.TryPublish(body, key, headers, properties)
            ) || (_router is not null && _router.Refused(stream));
    }

    private static MessageKey OfTombstone(in MessageKey key) =>
        key.HasValue
            ? key.Bury()
            : throw new ArgumentException("A tombstone says that its key is gone, so it needs a key.", nameof(key));

    private ProducerStream Choose(
        int bodyLength,
        in MessageKey key,
        MessageHeaders? headers,
        in BatchProperties properties
    ) => _router is null ? _stream : _router.Choose(key, SendBatch.RecordLength(bodyLength, key, headers), properties);

    private Task FlushAllAsync() => _router is null ? _stream.FlushAsync() : _router.FlushAsync();

    private SendBatch FilledOf(BatchBuilder batch)
    {
        ArgumentNullException.ThrowIfNull(batch);
        if (batch.Producer != this)
            throw new ArgumentException("The batch belongs to another producer.", nameof(batch));
        return batch.Filled;
    }
}

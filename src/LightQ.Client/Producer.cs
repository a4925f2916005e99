using LightQ.Client.Publishing;
using LightQ.Protocol;

namespace LightQ.Client;

/// <summary>Publishes to one topic. Made by <see cref="LightQClient.CreateProducerAsync"/>; keep it, do not make one per message.</summary>
/// <remarks>
/// Thread-safe. Messages published by one thread are stored in that order. Nothing waits to be batched: what is published while
/// a send is under way goes out together with the next. When the connection is lost, the producer resumes on the next one: what
/// was not sent is sent then; what was sent and not acknowledged is sent again by a named producer (and stored once), and fails
/// with <see cref="ErrorCode.OutcomeUnknown"/> for an anonymous one. After an error everything published behind it fails with
/// <see cref="ErrorCode.StreamBroken"/>, so there are no holes in the order; messages published after that are new ones.
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
    private readonly ProducerOptions _options;
    private readonly TimeProvider _time;
    private readonly MessageClock _clock;
    private int _isDisposed;

    internal Producer(ProducerStream stream, ProducerOptions options, TimeProvider time)
    {
        _stream = stream;
        _options = options;
        _time = time;
        _clock = new MessageClock(time, options.TimeToLive);
    }

    /// <summary>The topic's name.</summary>
    public string Topic => _stream.Topic;

    /// <summary>The partition it publishes to.</summary>
    public int Partition => _stream.Partition;

    /// <summary>Publishes a message and waits for its ack.</summary>
    /// <param name="body">The body; copied before the method returns.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>Completes, on the thread pool, when the message is as safe as the ack level says. Waits for room when the window is full. Await it once.</returns>
    /// <exception cref="LightQException">The message was refused, or its outcome is unknown.</exception>
    public ValueTask<PublishAck> PublishAsync(ReadOnlyMemory<byte> body, MessageKey key = default, MessageHeaders? headers = null, CancellationToken cancellationToken = default) =>
        _stream.PublishAsync(body.Span, key, headers, _clock.Stamp(default), cancellationToken);

    /// <summary>Publishes a message and waits for its ack.</summary>
    /// <param name="body">The body; copied before the method returns.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>Completes, on the thread pool, when the message is as safe as the ack level says. Waits for room when the window is full. Await it once.</returns>
    /// <exception cref="LightQException">The message was refused, or its outcome is unknown.</exception>
    public ValueTask<PublishAck> PublishAsync(ReadOnlySpan<byte> body, MessageKey key = default, MessageHeaders? headers = null, CancellationToken cancellationToken = default) =>
        _stream.PublishAsync(body, key, headers, _clock.Stamp(default), cancellationToken);

    /// <summary>Publishes a message with times of its own and waits for its ack.</summary>
    /// <param name="body">The body; copied before the method returns.</param>
    /// <param name="options">How long the message is of use.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>Completes, on the thread pool, when the message is as safe as the ack level says. Waits for room when the window is full. Await it once.</returns>
    /// <exception cref="LightQException">The message was refused, or its outcome is unknown.</exception>
    public ValueTask<PublishAck> PublishAsync(ReadOnlyMemory<byte> body, in PublishOptions options, MessageKey key = default, MessageHeaders? headers = null, CancellationToken cancellationToken = default) =>
        _stream.PublishAsync(body.Span, key, headers, _clock.Stamp(options), cancellationToken);

    /// <summary>Publishes a whole batch and waits for its ack. The builder is empty when this returns.</summary>
    /// <param name="batch">A batch of this producer with at least one message.</param>
    /// <param name="cancellationToken">Ends the wait. The messages may be stored nevertheless.</param>
    /// <returns>The ack of all its messages: <see cref="PublishAck.Offset"/> is the first one's.</returns>
    /// <exception cref="LightQException">The batch was refused, or its outcome is unknown.</exception>
    public ValueTask<PublishAck> PublishAsync(BatchBuilder batch, CancellationToken cancellationToken = default)
    {
        SendBatch filled = FilledOf(batch);
        ValueTask<PublishAck> ack = _stream.PublishAsync(filled, cancellationToken);
        if (!ack.IsCanceled)
            batch.Forget();
        return ack;
    }

    /// <summary>Publishes a message without waiting for anything. Whether it was stored, <see cref="FlushAsync"/> tells.</summary>
    /// <param name="body">The body; copied.</param>
    /// <returns>False when the window is full: nothing was published. <see cref="WaitForRoomAsync"/> waits for better times.</returns>
    /// <exception cref="LightQException">The producer has failed for good, the message is too large, or (once) an earlier message was not stored.</exception>
    public bool TryPublish(ReadOnlySpan<byte> body) =>
        _clock.IsPlain ? _stream.TryPublish(body) : _stream.TryPublish(body, default, null, _clock.Stamp(default));

    /// <summary>Publishes a message without waiting for anything. Whether it was stored, <see cref="FlushAsync"/> tells.</summary>
    /// <param name="body">The body; copied.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <returns>False when the window is full: nothing was published.</returns>
    /// <exception cref="LightQException">The producer has failed for good, the message is too large, or (once) an earlier message was not stored.</exception>
    public bool TryPublish(ReadOnlySpan<byte> body, MessageKey key, MessageHeaders? headers = null) =>
        _stream.TryPublish(body, key, headers, _clock.Stamp(default));

    /// <summary>Publishes a message with times of its own, without waiting for anything. Whether it was stored, <see cref="FlushAsync"/> tells.</summary>
    /// <param name="body">The body; copied.</param>
    /// <param name="options">How long the message is of use.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <returns>False when the window is full: nothing was published.</returns>
    /// <exception cref="LightQException">The producer has failed for good, the message is too large, or (once) an earlier message was not stored.</exception>
    public bool TryPublish(ReadOnlySpan<byte> body, in PublishOptions options, MessageKey key = default, MessageHeaders? headers = null) =>
        _stream.TryPublish(body, key, headers, _clock.Stamp(options));

    /// <summary>Publishes a whole batch without waiting for anything. When it succeeds, the builder is empty.</summary>
    /// <param name="batch">A batch of this producer with at least one message.</param>
    /// <returns>False when the window is full: nothing was published and the batch is as it was.</returns>
    /// <exception cref="LightQException">The producer has failed for good, or (once) an earlier message was not stored.</exception>
    public bool TryPublish(BatchBuilder batch)
    {
        if (!_stream.TryPublish(FilledOf(batch)))
            return false;
        batch.Forget();
        return true;
    }

    /// <summary>An empty batch to fill and publish, as often as you like.</summary>
    /// <param name="options">When its messages are delivered and how long they are of use; time counts from when the first is added.</param>
    public BatchBuilder CreateBatch(PublishOptions options = default)
    {
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        return new BatchBuilder(_stream, _clock, options);
    }

    /// <summary>Waits until there is room again after a publish that returned false: half of the window. Another thread may be quicker to use it.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">The producer has failed for good.</exception>
    public ValueTask WaitForRoomAsync(CancellationToken cancellationToken = default) => _stream.WaitForRoomAsync(cancellationToken);

    /// <summary>Waits until every message published before is acknowledged.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">The first error since the last flush, awaited by someone else or not.</exception>
    public Task FlushAsync(CancellationToken cancellationToken = default)
    {
        Task flushed = _stream.FlushAsync();
        return flushed.IsCompleted ? flushed : flushed.WaitAsync(cancellationToken);
    }

    /// <summary>
    /// Waits up to <see cref="ProducerOptions.DisposeTimeout"/> for the messages under way, then closes. What has no ack by then fails
    /// with <see cref="ErrorCode.Closed"/>. Throws nothing: who wants to know calls <see cref="FlushAsync"/> first.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0)
            return;
        try
        {
            if (_options.DisposeTimeout > TimeSpan.Zero)
                await _stream.FlushAsync().WaitAsync(_options.DisposeTimeout, _time).ConfigureAwait(false);
        }
        catch (Exception e) when (e is LightQException or TimeoutException)
        {
            // Every message's own outcome was or is now being reported to its publisher.
        }
        _stream.Close();
    }

    private SendBatch FilledOf(BatchBuilder batch)
    {
        ArgumentNullException.ThrowIfNull(batch);
        if (batch.Stream != _stream)
            throw new ArgumentException("The batch belongs to another producer.", nameof(batch));
        return batch.Filled;
    }
}

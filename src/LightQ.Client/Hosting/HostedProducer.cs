using System.Buffers;
using LightQ.Client.Connections;
using LightQ.Client.Publishing;
using LightQ.Client.Timing;

namespace LightQ.Client.Hosting;

/// <summary>The producer of a host: one after the other, each opened when what ended the one before is gone.</summary>
/// <typeparam name="T">What is published.</typeparam>
/// <remarks>
/// Thread-safe. What is published while the next one is opened for the first time waits for it, in order; after that
/// it fails with the cause until one is open. A producer that was fenced has ended for good, unless it is to take over.
/// </remarks>
internal sealed class HostedProducer<T>(
    LightQClient client,
    string topic,
    IMessageSerializer<T> serializer,
    ProducerOptions? options,
    FencedAction whenFenced
) : IProducer<T>, IHostedProducer, IDisposable
{
    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _closing = new();
    private Opening _current = new();
    private LightQException? _cause; // Of the last one's end, until the next one is open.
    private long _tookOver;

    public string Topic => topic;

    public object? ClientKey { get; init; }

    public LightQException? Failure
    {
        get
        {
            if (Volatile.Read(ref _cause) is { } cause)
                return cause;
            Task<Producer<T>> current = Current.Opened;
            return current.IsCompletedSuccessfully
                ? current.Result.Raw.Failure
                : current.Exception?.InnerException as LightQException;
        }
    }

    private TimeProvider Time => client.Options.ConnectionTime;

    private Opening Current => Volatile.Read(ref _current);

    public ValueTask<PublishAck> PublishAsync(
        T value,
        MessageKey key = default,
        MessageHeaders? headers = null,
        PublishOptions options = default,
        CancellationToken cancellationToken = default
    )
    {
        EarlyPublish? early = null;
        while (true)
        {
            Opening current = Current;
            if (current.Early.Ready is not null)
                return current.Opened.Result.PublishAsync(value, key, headers, options, cancellationToken);
            if (current.Opened.IsFaulted)
                return ValueTask.FromException<PublishAck>(ReasonOf(current.Opened.Exception.InnerException!));
            early ??= Early(value, key, headers, options, cancellationToken);
            if (current.Early.TryAdd(early))
                return early.AckAsync();
        }
    }

    public async ValueTask<Producer<T>> GetAsync(CancellationToken cancellationToken = default)
    {
        try
        {
            return await Current.Opened.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (LightQException e)
        {
            throw e.Copy();
        }
    }

    public async Task OpenAsync(CancellationToken cancellationToken)
    {
        Opening current = Current;
        if (current.Opened.IsCompleted)
            return;
        Producer<T> producer = await client
            .CreateProducerAsync(topic, serializer, options, cancellationToken)
            .ConfigureAwait(false);
        if (!current.TrySet(producer))
        {
            await producer.DisposeAsync().ConfigureAwait(false);
            return;
        }
        Follow(producer);
        current.GiveEarly();
    }

    public void GiveUp(Exception reason) => Current.Fail(reason);

    public async Task CloseAsync(CancellationToken cancellationToken)
    {
        Task<Producer<T>> current;
        lock (_gate)
        {
            Stop();
            current = _current.Opened;
        }
        if (current.IsCompletedSuccessfully)
        {
            await current
                .Result.DisposeAsync()
                .AsTask()
                .WaitAsync(cancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    /// <summary>With the host's services.</summary>
    public void Dispose()
    {
        lock (_gate)
            Stop();
        _closing.Dispose();
    }

    private static Exception ReasonOf(Exception failure) => failure is LightQException e ? e.Copy() : failure;

    private EarlyPublish Early(
        T value,
        in MessageKey key,
        MessageHeaders? headers,
        in PublishOptions options,
        CancellationToken cancellationToken
    )
    {
        var body = new ArrayBufferWriter<byte>();
        serializer.Serialize(value, body);
        headers = MessageHeaders.WithContentType(headers, serializer.ContentType);
        return new EarlyPublish(body.WrittenSpan, key, headers, options, cancellationToken);
    }

    /// <summary>Opens another one when this one has ended.</summary>
    private void Follow(Producer<T> producer) =>
        producer.Raw.Ended.ContinueWith(
            ended => OnEnded(producer, ended.Result),
            CancellationToken.None,
            TaskContinuationOptions.OnlyOnRanToCompletion | TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default
        );

    /// <summary>Before any publish learns of it, and under a stream's gate.</summary>
    private void OnEnded(Producer<T> ended, LightQException reason)
    {
        bool isFenced = reason.Code == ErrorCode.Fenced;
        if (isFenced && whenFenced == FencedAction.Fail)
            return;
        var next = new Opening();
        long before = 0;
        lock (_gate)
        {
            if (_closing.IsCancellationRequested)
                return;
            if (isFenced)
                (before, _tookOver) = (_tookOver, Time.GetTimestamp());
            if (WaitBehind(before) > TimeSpan.Zero)
                next.Fail(reason);
            Volatile.Write(ref _cause, reason);
            Volatile.Write(ref _current, next);
        }
        _ = OwnTask.Run(() => OpenNextAsync(ended, reason, before));
    }

    /// <summary>Two that take over from each other do it no more often than this.</summary>
    /// <param name="before">When this one did before; 0 for never.</param>
    private TimeSpan WaitBehind(long before) =>
        before == 0 ? TimeSpan.Zero : client.Options.MaxReconnectDelay - Time.GetElapsedTime(before);

    private async Task OpenNextAsync(Producer<T> ended, LightQException reason, long before)
    {
        long began = Time.GetTimestamp();
        try
        {
            await ended.DisposeAsync().ConfigureAwait(false);
            TimeSpan wait = WaitBehind(before);
            for (int attempt = 0; ; attempt++)
            {
                if (wait > TimeSpan.Zero)
                    await Task.Delay(wait, Time, _closing.Token).ConfigureAwait(false);
                try
                {
                    Producer<T> producer = await client
                        .CreateProducerAsync(topic, serializer, options, _closing.Token)
                        .ConfigureAwait(false);
                    if (reason.Code == ErrorCode.Fenced)
                        ClientLog.TookOver(client.Logger, topic, options?.Name);
                    else
                        ClientLog.ProducerBack(client.Logger, topic, Time.GetElapsedTime(began).TotalSeconds);
                    await PutAsync(producer).ConfigureAwait(false);
                    return;
                }
                catch (LightQException e)
                {
                    FailUntilOpen(
                        e.Code == reason.Code
                            ? e
                            : new LightQException(
                                reason.Code,
                                $"{reason.Message.TrimEnd('.')}. It cannot be opened again yet ({e.Code}): {e.Message}"
                            )
                    );
                    wait = RetryDelay.Reconnect(client.Options, attempt, Random.Shared.NextDouble());
                }
            }
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
        {
            FailUntilOpen(new LightQException(ErrorCode.Closed, "The producer was disposed.", e));
        }
    }

    private void Stop()
    {
        if (!_closing.IsCancellationRequested)
            _closing.Cancel();
    }

    private async Task PutAsync(Producer<T> producer)
    {
        Opening current;
        bool isClosing;
        lock (_gate)
        {
            current = _current;
            isClosing = _closing.IsCancellationRequested;
            if (!isClosing)
            {
                if (!current.TrySet(producer))
                {
                    current = new Opening();
                    current.TrySet(producer);
                    Volatile.Write(ref _current, current);
                }
                Volatile.Write(ref _cause, null);
            }
        }
        if (isClosing)
        {
            await producer.DisposeAsync().ConfigureAwait(false);
            return;
        }
        Follow(producer);
        current.GiveEarly();
    }

    private void FailUntilOpen(LightQException cause)
    {
        lock (_gate)
        {
            Volatile.Write(ref _cause, cause);
            if (_current.Opened.IsCompleted)
                Volatile.Write(ref _current, new Opening());
            _current.Fail(cause);
        }
    }

    /// <summary>One producer: what is published before it is open, and whether it opens.</summary>
    private sealed class Opening
    {
        private readonly TaskCompletionSource<Producer<T>> _opened = new(
            TaskCreationOptions.RunContinuationsAsynchronously
        );

        public Task<Producer<T>> Opened => _opened.Task;

        public EarlyPublishes Early { get; } = new();

        /// <summary>It is open; <see cref="GiveEarly"/> is next, outside of every lock.</summary>
        public bool TrySet(Producer<T> producer) => _opened.TrySetResult(producer);

        public void GiveEarly() => Early.TryOpen(Opened.Result.Raw, mayLeave: false);

        public void Fail(Exception reason)
        {
            if (!_opened.TrySetException(reason))
                return;
            _ = Opened.Exception; // Looked at: perhaps nobody waits for it.
            foreach (EarlyPublish early in Early.End())
                early.Fail(ReasonOf(reason));
        }
    }
}

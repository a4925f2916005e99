using LightQ.Client.Connections;
using LightQ.Client.Timing;

namespace LightQ.Client.Hosting;

/// <summary>The producer of a host: one after the other, each opened when what ended the one before is gone.</summary>
/// <typeparam name="T">What is published.</typeparam>
/// <remarks>
/// Thread-safe. What is published while the next one is opened for the first time waits for it; after that it fails
/// with the cause until one is open. A producer that was fenced has ended for good, unless it is to take over.
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
    private TaskCompletionSource<Producer<T>> _current = NewSource();
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
            Task<Producer<T>> current = Current;
            return current.IsCompletedSuccessfully
                ? current.Result.Raw.Failure
                : current.Exception?.InnerException as LightQException;
        }
    }

    private TimeProvider Time => client.Options.ConnectionTime;

    private Task<Producer<T>> Current => Volatile.Read(ref _current).Task;

    public ValueTask<PublishAck> PublishAsync(
        T value,
        MessageKey key = default,
        MessageHeaders? headers = null,
        PublishOptions options = default,
        CancellationToken cancellationToken = default
    )
    {
        Task<Producer<T>> current = Current;
        return current.IsCompletedSuccessfully
            ? current.Result.PublishAsync(value, key, headers, options, cancellationToken)
            : PublishLaterAsync(current, value, key, headers, options, cancellationToken);
    }

    public async ValueTask<Producer<T>> GetAsync(CancellationToken cancellationToken = default)
    {
        try
        {
            return await Current.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (LightQException e)
        {
            throw e.Copy();
        }
    }

    public async Task OpenAsync(CancellationToken cancellationToken)
    {
        TaskCompletionSource<Producer<T>> current = Volatile.Read(ref _current);
        if (current.Task.IsCompleted)
            return;
        Producer<T> producer = await client
            .CreateProducerAsync(topic, serializer, options, cancellationToken)
            .ConfigureAwait(false);
        if (current.TrySetResult(producer))
            Follow(producer);
        else
            await producer.DisposeAsync().ConfigureAwait(false);
    }

    public void GiveUp(Exception reason) => Fail(Volatile.Read(ref _current), reason);

    public async Task CloseAsync(CancellationToken cancellationToken)
    {
        Task<Producer<T>> current;
        lock (_gate)
        {
            Stop();
            current = _current.Task;
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

    private static TaskCompletionSource<Producer<T>> NewSource() =>
        new(TaskCreationOptions.RunContinuationsAsynchronously);

    private static void Fail(TaskCompletionSource<Producer<T>> producer, Exception reason)
    {
        producer.TrySetException(reason);
        // Looked at: perhaps nobody waits for it.
        _ = producer.Task.Exception;
    }

    private static async ValueTask<PublishAck> PublishLaterAsync(
        Task<Producer<T>> current,
        T value,
        MessageKey key,
        MessageHeaders? headers,
        PublishOptions options,
        CancellationToken cancellationToken
    )
    {
        Producer<T> producer;
        try
        {
            producer = await current.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (LightQException e)
        {
            throw e.Copy();
        }
        return await producer.PublishAsync(value, key, headers, options, cancellationToken).ConfigureAwait(false);
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
        TaskCompletionSource<Producer<T>> next = NewSource();
        long before = 0;
        lock (_gate)
        {
            if (_closing.IsCancellationRequested)
                return;
            if (isFenced)
                (before, _tookOver) = (_tookOver, Time.GetTimestamp());
            if (WaitBehind(before) > TimeSpan.Zero)
                Fail(next, reason);
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
                                $"{reason.Message} It cannot be opened again yet ({e.Code}): {e.Message}"
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
        bool isClosing;
        lock (_gate)
        {
            isClosing = _closing.IsCancellationRequested;
            if (!isClosing)
            {
                if (!_current.TrySetResult(producer))
                {
                    TaskCompletionSource<Producer<T>> next = NewSource();
                    next.SetResult(producer);
                    Volatile.Write(ref _current, next);
                }
                Volatile.Write(ref _cause, null);
            }
        }
        if (isClosing)
            await producer.DisposeAsync().ConfigureAwait(false);
        else
            Follow(producer);
    }

    private void FailUntilOpen(LightQException cause)
    {
        lock (_gate)
        {
            Volatile.Write(ref _cause, cause);
            if (_current.Task.IsCompleted)
                Volatile.Write(ref _current, NewSource());
            Fail(_current, cause);
        }
    }
}

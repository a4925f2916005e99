namespace LightQ.Client.Hosting;

/// <summary>The producer of a host: one after the other, if it takes the name back when another fences it.</summary>
/// <typeparam name="T">What is published.</typeparam>
internal sealed class HostedProducer<T>(
    LightQClient client,
    string topic,
    IMessageSerializer<T> serializer,
    ProducerOptions? options,
    FencedAction whenFenced
) : IProducer<T>, IHostedProducer
{
    private readonly Lock _gate = new();
    private TaskCompletionSource<Producer<T>> _current = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _tookOver;

    public string Topic => topic;

    public object? ClientKey { get; init; }

    public LightQException? Failure
    {
        get
        {
            Task<Producer<T>> current = Current();
            return current.IsCompletedSuccessfully
                ? current.Result.Raw.Failure
                : current.Exception?.InnerException as LightQException;
        }
    }

    private TimeProvider Time => client.Options.ConnectionTime;

    public ValueTask<PublishAck> PublishAsync(
        T value,
        MessageKey key = default,
        MessageHeaders? headers = null,
        PublishOptions options = default,
        CancellationToken cancellationToken = default
    )
    {
        Task<Producer<T>> current = Current();
        return current.IsCompletedSuccessfully
            ? current.Result.PublishAsync(value, key, headers, options, cancellationToken)
            : PublishLaterAsync(current, value, key, headers, options, cancellationToken);
    }

    public async ValueTask<Producer<T>> GetAsync(CancellationToken cancellationToken = default)
    {
        try
        {
            return await Current().WaitAsync(cancellationToken).ConfigureAwait(false);
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
        if (!current.TrySetResult(producer))
            await producer.DisposeAsync().ConfigureAwait(false);
    }

    public void GiveUp(Exception reason) => Fail(Volatile.Read(ref _current), reason);

    public async Task CloseAsync(CancellationToken cancellationToken)
    {
        Task<Producer<T>> current = Volatile.Read(ref _current).Task;
        if (current.IsCompletedSuccessfully)
        {
            await current
                .Result.DisposeAsync()
                .AsTask()
                .WaitAsync(cancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

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

    /// <summary>
    /// The producer that is open or being opened. If it was fenced and is to take over, the next one.
    /// </summary>
    private Task<Producer<T>> Current()
    {
        TaskCompletionSource<Producer<T>> current = Volatile.Read(ref _current);
        return
            whenFenced == FencedAction.TakeOver
            && current.Task.IsCompletedSuccessfully
            && current.Task.Result.Raw.Failure is { Code: ErrorCode.Fenced }
            ? TakeOver(current)
            : current.Task;
    }

    private Task<Producer<T>> TakeOver(TaskCompletionSource<Producer<T>> fenced)
    {
        TaskCompletionSource<Producer<T>> next;
        lock (_gate)
        {
            if (_current != fenced)
                return _current.Task;
            // Two that take over from each other do it no more often than this.
            if (_tookOver != 0 && Time.GetElapsedTime(_tookOver) < client.Options.MaxReconnectDelay)
                return fenced.Task;
            _tookOver = Time.GetTimestamp();
            _current = next = new TaskCompletionSource<Producer<T>>(TaskCreationOptions.RunContinuationsAsynchronously);
        }
        _ = OpenNextAsync(fenced, next);
        return next.Task;
    }

    private async Task OpenNextAsync(TaskCompletionSource<Producer<T>> fenced, TaskCompletionSource<Producer<T>> next)
    {
        try
        {
            await fenced.Task.Result.DisposeAsync().ConfigureAwait(false);
            Producer<T> producer = await client.CreateProducerAsync(topic, serializer, options).ConfigureAwait(false);
            ClientLog.TookOver(client.Logger, topic, options?.Name);
            if (!next.TrySetResult(producer))
                await producer.DisposeAsync().ConfigureAwait(false);
        }
        catch (Exception e) when (e is LightQException or ObjectDisposedException)
        {
            // Fenced still: it is tried again.
            lock (_gate)
                _current = fenced;
            Fail(next, e);
        }
    }
}

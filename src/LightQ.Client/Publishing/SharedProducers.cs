using System.Collections.Concurrent;

namespace LightQ.Client.Publishing;

/// <summary>
/// The producers behind
/// <see cref="LightQClient.PublishAsync(string, ReadOnlyMemory{byte}, MessageKey, MessageHeaders?, PublishOptions, CancellationToken)"/>:
/// one a topic, opened when it is needed.
/// </summary>
/// <remarks>
/// Thread-safe. A publish looks its producer up without a lock. At most <see cref="MostKept"/> are kept: for another
/// topic the one that was used longest ago is given up, and closed once what was published with it has its outcome. A
/// producer that has failed for good takes nothing, which a publish learns before its message is taken, so the next
/// producer gets it.
/// </remarks>
internal sealed class SharedProducers(Func<string, CancellationToken, Task<Producer>> open) : IAsyncDisposable
{
    /// <summary>How many are kept.</summary>
    public const int MostKept = 64;

    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<string, SharedProducer> _byTopic = new(StringComparer.Ordinal);
    private readonly CancellationTokenSource _closing = new();
    private bool _isDisposed;

    public ValueTask<PublishAck> PublishAsync(
        string topic,
        ReadOnlySpan<byte> body,
        MessageKey key,
        MessageHeaders? headers,
        in PublishOptions options,
        CancellationToken cancellationToken
    )
    {
        ArgumentNullException.ThrowIfNull(topic);
        SharedProducer shared = Get(topic);
        if (shared.Opened.IsCompletedSuccessfully)
        {
            Producer producer = shared.Opened.Result;
            try
            {
                return producer.PublishAsync(body, options, key, headers, cancellationToken);
            }
            catch (LightQException) when (producer.IsBroken)
            {
                // Thrown instead of a task: the message was not taken.
                shared = Instead(topic, shared);
            }
        }
        return PublishLaterAsync(topic, shared, body.ToArray(), key, headers, options, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            if (_isDisposed)
                return;
            _isDisposed = true;
        }
        await _closing.CancelAsync().ConfigureAwait(false);
        await Task.WhenAll(_byTopic.Values.Select(shared => shared.CloseAsync())).ConfigureAwait(false);
        _closing.Dispose();
    }

    private async ValueTask<PublishAck> PublishLaterAsync(
        string topic,
        SharedProducer shared,
        byte[] body,
        MessageKey key,
        MessageHeaders? headers,
        PublishOptions options,
        CancellationToken cancellationToken
    )
    {
        while (true)
        {
            Producer producer = await OpenedAsync(shared, cancellationToken).ConfigureAwait(false);
            ValueTask<PublishAck> published;
            try
            {
                published = producer.PublishAsync(body.AsMemory(), options, key, headers, cancellationToken);
            }
            catch (LightQException) when (producer.IsBroken)
            {
                // Not taken: it was given up for another topic, or failed, behind its opening.
                shared = Instead(topic, shared);
                continue;
            }
            return await published.ConfigureAwait(false);
        }
    }

    private static async Task<Producer> OpenedAsync(SharedProducer shared, CancellationToken cancellationToken)
    {
        try
        {
            return await shared.Opened.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (LightQException e)
        {
            throw e.Copy();
        }
        catch (OperationCanceledException e) when (!cancellationToken.IsCancellationRequested)
        {
            throw new LightQException(ErrorCode.Closed, "The client was disposed before the producer was open.", e);
        }
    }

    private SharedProducer Instead(string topic, SharedProducer broken)
    {
        Forget(topic, broken);
        return Get(topic);
    }

    private SharedProducer Get(string topic)
    {
        if (_byTopic.TryGetValue(topic, out SharedProducer? shared))
        {
            shared.Touch();
            return shared;
        }
        lock (_gate)
        {
            ClientDisposed.ThrowIf(_isDisposed);
            if (_byTopic.TryGetValue(topic, out shared))
                return shared;
            if (_byTopic.Count >= MostKept)
                GiveUpOldest();
            // On the pool: what runs before the first wait does not run under the lock.
            CancellationToken closing = _closing.Token;
            shared = new SharedProducer(Task.Run(() => open(topic, closing)));
            _byTopic[topic] = shared;
        }
        _ = ForgetIfRefusedAsync(topic, shared);
        return shared;
    }

    private void GiveUpOldest()
    {
        (string topic, SharedProducer oldest) = _byTopic.MinBy(entry => entry.Value.LastUsed);
        Forget(topic, oldest);
    }

    /// <summary>Who asks again after a refusal tries again.</summary>
    private async Task ForgetIfRefusedAsync(string topic, SharedProducer shared)
    {
        await ((Task)shared.Opened).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!shared.Opened.IsCompletedSuccessfully)
            Forget(topic, shared);
    }

    private void Forget(string topic, SharedProducer shared)
    {
        if (_byTopic.TryRemove(new KeyValuePair<string, SharedProducer>(topic, shared)))
            _ = shared.GiveUpAsync();
    }
}

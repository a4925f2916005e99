using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using LightQ.Client.Timing;

namespace LightQ.Client.Publishing;

/// <summary>
/// The producers behind
/// <see cref="LightQClient.PublishAsync(string, ReadOnlyMemory{byte}, MessageKey, MessageHeaders?, PublishOptions, CancellationToken)"/>:
/// one a topic, opened when it is needed.
/// </summary>
/// <remarks>
/// Thread-safe. A publish looks its producer up without a lock. At most <paramref name="mostKept"/> that are idle are
/// kept: for another topic the one of them that was used longest ago is given up. One with messages under way never is,
/// so there are more of them for as long as more topics are published to at once. A producer that was given up, or has
/// failed for good, takes nothing, which a publish learns before its message is taken: the topic's next producer gets
/// it, in the same call, and is opened behind the end of the one before.
/// </remarks>
internal sealed class SharedProducers(Func<string, CancellationToken, Task<Producer>> open, int mostKept)
    : IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly ConcurrentDictionary<string, SharedProducer> _byTopic = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Leaving> _leaving = new(StringComparer.Ordinal);
    private readonly CancellationTokenSource _closing = new();
    private bool _isDisposed;

    /// <summary>How many there are now.</summary>
    public int Count => _byTopic.Count;

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
        if (_byTopic.TryGetValue(topic, out SharedProducer? shared) && shared.Opened.IsCompletedSuccessfully)
        {
            shared.Touch();
            Producer producer = shared.Opened.Result;
            try
            {
                return producer.PublishAsync(body, options, key, headers, cancellationToken);
            }
            catch (LightQException) when (producer.IsBroken)
            {
                // Thrown instead of a task: the message was not taken.
            }
        }
        return PublishLaterAsync(topic, Enter(topic), body.ToArray(), key, headers, options, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        SharedProducer[] producers;
        lock (_gate)
        {
            if (_isDisposed)
                return;
            _isDisposed = true;
            producers = [.. _byTopic.Values, .. _leaving.Values.Select(static l => l.Producer)];
        }
        await _closing.CancelAsync().ConfigureAwait(false);
        await Task.WhenAll(producers.Select(static shared => shared.CloseAsync())).ConfigureAwait(false);
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
            ValueTask<PublishAck> published;
            try
            {
                Producer producer = await OpenedAsync(shared, cancellationToken).ConfigureAwait(false);
                published = producer.PublishAsync(body.AsMemory(), options, key, headers, cancellationToken);
            }
            catch (LightQException) when (shared.IsBroken)
            {
                shared.Exit();
                shared = Enter(topic);
                continue;
            }
            catch
            {
                shared.Exit();
                throw;
            }
            shared.Exit();
            try
            {
                return await published.ConfigureAwait(false);
            }
            finally
            {
                if (_byTopic.Count > mostKept)
                    Trim();
            }
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

    /// <summary>The topic's producer, which is kept for a caller until it has published.</summary>
    private SharedProducer Enter(string topic)
    {
        SharedProducer shared;
        lock (_gate)
        {
            ClientDisposed.ThrowIf(_isDisposed);
            if (_byTopic.TryGetValue(topic, out SharedProducer? known))
            {
                if (!known.IsBroken)
                {
                    known.Enter();
                    known.Touch();
                    return known;
                }
                // Nothing of it is under way that is not failing now.
                _byTopic.TryRemove(topic, out _);
                _ = known.RetireAsync();
            }
            while (_byTopic.Count >= mostKept && TryGiveUpOldest(out _)) { }
            Task before = _leaving.TryGetValue(topic, out Leaving leaving) ? leaving.Left : Task.CompletedTask;
            // On the pool: what runs before the first wait does not run under the lock.
            CancellationToken closing = _closing.Token;
            shared = new SharedProducer(OwnTask.Run(() => OpenAsync(topic, before, closing)));
            shared.Enter();
            _byTopic[topic] = shared;
        }
        _ = ForgetIfRefusedAsync(topic, shared);
        return shared;
    }

    /// <summary>Opens a producer; where the broker takes no more streams, in the place of one that is idle.</summary>
    private async Task<Producer> OpenAsync(string topic, Task before, CancellationToken closing)
    {
        await before.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        while (true)
        {
            Task? left = null;
            try
            {
                return await open(topic, closing).ConfigureAwait(false);
            }
            catch (LightQException e) when (e.Code == ErrorCode.ResourceExhausted)
            {
                lock (_gate)
                {
                    if (_isDisposed || !TryGiveUpOldest(out left))
                        throw;
                }
            }
            await left.WaitAsync(closing).ConfigureAwait(false);
        }
    }

    private void Trim()
    {
        lock (_gate)
        {
            while (!_isDisposed && _byTopic.Count > mostKept && TryGiveUpOldest(out _)) { }
        }
    }

    /// <summary>Gives up the producer that was used longest ago of those that are idle. Under the gate.</summary>
    private bool TryGiveUpOldest([NotNullWhen(true)] out Task? left)
    {
        (string? topic, SharedProducer? oldest) = (null, null);
        foreach ((string other, SharedProducer shared) in _byTopic)
        {
            if ((oldest is null || shared.LastUsed < oldest.LastUsed) && shared.IsIdle)
                (topic, oldest) = (other, shared);
        }
        left = null;
        if (oldest is null)
            return false;
        _byTopic.TryRemove(topic!, out _);
        left = oldest.RetireAsync();
        if (!left.IsCompleted)
        {
            _leaving[topic!] = new Leaving(oldest, left);
            _ = ForgetWhenLeftAsync(topic!, left);
        }
        return true;
    }

    private async Task ForgetWhenLeftAsync(string topic, Task left)
    {
        await left.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ForceYielding);
        lock (_gate)
        {
            if (_leaving.TryGetValue(topic, out Leaving leaving) && leaving.Left == left)
                _leaving.Remove(topic);
        }
    }

    /// <summary>A caller that asks again after a refusal tries again.</summary>
    private async Task ForgetIfRefusedAsync(string topic, SharedProducer shared)
    {
        await ((Task)shared.Opened).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!shared.Opened.IsCompletedSuccessfully)
            _byTopic.TryRemove(new KeyValuePair<string, SharedProducer>(topic, shared));
    }

    /// <summary>One that was given up, until it is closed.</summary>
    private readonly record struct Leaving(SharedProducer Producer, Task Left);
}

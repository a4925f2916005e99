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
/// it, in the same call, and is opened behind the end of the one before. The messages of one caller stay in order
/// through all of it: see <see cref="EarlyPublishes"/>.
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
        EarlyPublish? early = null;
        while (true)
        {
            if (_byTopic.TryGetValue(topic, out SharedProducer? shared) && shared.Early.Ready is { } producer)
            {
                shared.Touch();
                try
                {
                    return producer.PublishAsync(body, options, key, headers, cancellationToken);
                }
                catch (LightQException) when (producer.IsBroken)
                {
                    // Thrown instead of a task: the message was not taken.
                }
            }
            early ??= new EarlyPublish(body, key, headers, options, cancellationToken);
            if (TryWait(topic, early))
                return AckAsync(early);
        }
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

    private async ValueTask<PublishAck> AckAsync(EarlyPublish early)
    {
        try
        {
            return await early.AckAsync().ConfigureAwait(false);
        }
        finally
        {
            if (_byTopic.Count > mostKept)
                Trim();
        }
    }

    /// <summary>
    /// Has a message wait for the topic's producer, which is opened where there is none; false when there is one that
    /// need not be waited for.
    /// </summary>
    private bool TryWait(string topic, EarlyPublish early)
    {
        SharedProducer opening;
        lock (_gate)
        {
            ClientDisposed.ThrowIf(_isDisposed);
            if (_byTopic.TryGetValue(topic, out SharedProducer? known))
            {
                known.Touch();
                if (known.Early.TryAdd(early))
                    return true;
                if (known.Early.Ready is { IsBroken: false })
                    return false;
            }
            opening = Replace(topic, known, [early]);
        }
        _ = ServeAsync(topic, opening);
        return true;
    }

    /// <summary>
    /// A producer for those that wait, in the place of one that is open and broken, or of none. Under the gate.
    /// </summary>
    private SharedProducer Replace(string topic, SharedProducer? broken, EarlyPublish[] waiting)
    {
        if (broken is not null)
        {
            _byTopic.TryRemove(topic, out _);
            // Nothing of it is under way that is not failing now.
            _ = broken.Opened.Result.RetireAsync();
        }
        while (_byTopic.Count >= mostKept && TryGiveUpOldest(out _)) { }
        Task before = _leaving.TryGetValue(topic, out Leaving leaving) ? leaving.Left : Task.CompletedTask;
        // On the pool: what runs before the first wait does not run under the lock.
        CancellationToken closing = _closing.Token;
        var opening = new SharedProducer(OwnTask.Run(() => OpenAsync(topic, before, closing)), new(waiting));
        _byTopic[topic] = opening;
        return opening;
    }

    /// <summary>
    /// Gives a producer what waits for it once it is open. What it does not take, because it is broken by then, is left
    /// to the topic's next; after a refusal the next publish tries again.
    /// </summary>
    private async Task ServeAsync(string topic, SharedProducer shared)
    {
        while (true)
        {
            await ((Task)shared.Opened).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            bool isOpen = shared.Opened.IsCompletedSuccessfully;
            if (isOpen && shared.Early.TryOpen(shared.Opened.Result, mayLeave: true))
                return;
            EarlyPublish[] left;
            lock (_gate)
            {
                left = shared.Early.End();
                if (isOpen && !_isDisposed)
                {
                    shared = Replace(topic, shared, left);
                    continue;
                }
                _byTopic.TryRemove(topic, out _);
            }
            foreach (EarlyPublish early in left)
                early.Fail(WhyNotOpen(shared));
            return;
        }
    }

    private static Exception WhyNotOpen(SharedProducer shared) =>
        shared.Opened.Exception?.InnerException switch
        {
            LightQException refusal => refusal.Copy(),
            { } other => other,
            null => new LightQException(ErrorCode.Closed, "The client was disposed before the producer was open."),
        };

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
        left = oldest.Opened.Result.RetireAsync();
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

    /// <summary>One that was given up, until it is closed.</summary>
    private readonly record struct Leaving(SharedProducer Producer, Task Left);
}

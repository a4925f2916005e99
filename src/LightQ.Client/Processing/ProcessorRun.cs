using System.Collections.Concurrent;
using System.Diagnostics;
using LightQ.Protocol;

namespace LightQ.Client.Processing;

/// <summary>
/// One run of a processor, from start to stop: one loop that receives, and as many that handle as may run at the same
/// time.
/// </summary>
/// <remarks>
/// Everything delivered is taken at once, so that its lock is renewed also while it waits for a handler; the broker
/// bounds how much that is. A message is settled while its loop's next handler runs already: waiting for the answer
/// would leave the handler idle for a round trip.
/// </remarks>
internal sealed class ProcessorRun(
    ProcessorClient client,
    string topic,
    string group,
    ProcessorOptions options,
    Func<ProcessMessageEventArgs, Task> handle,
    Func<ProcessErrorEventArgs, Task>? onError
) : IDisposable
{
    private static readonly TimeSpan FirstDelay = TimeSpan.FromSeconds(1),
        MaxDelay = TimeSpan.FromSeconds(30);

    /// <summary>The time that handlers have to end once their tokens are cancelled.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stopping = new();
    private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ReadyMessages _ready = new(options.Ordering);
    private readonly ConcurrentDictionary<HeldMessage, bool> _running = new();
    private readonly FailureLog _failures = new(client.Logger, client.Options.TimeProvider, topic, group);
    private readonly ProcessOperations _operations = new(
        client.Options,
        AddressArgument.Parse(topic, null).Topic,
        group
    );
    private IAsyncEnumerator<Message>? _messages;
    private Task _ended = Task.CompletedTask;
    private volatile bool _givesUp;

    private TimeProvider Time => client.Options.TimeProvider;

    /// <summary>Begins, and waits for the subscription.</summary>
    /// <exception cref="LightQException">The broker rejected the subscription or cannot be reached.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        _ended = Task.WhenAll([
            Task.Run(ReceiveAsync, CancellationToken.None),
            .. Enumerable.Range(0, options.MaxConcurrency).Select(_ => Task.Run(HandleAllAsync)),
        ]);
        await _subscribed.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Ends: running handlers first, then the subscription, which gives back what is left.</summary>
    /// <param name="cancellationToken">Ends the handlers' time.</param>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        // First, and on this thread: once a stop is asked for, no handler begins.
        _ready.Close();
        await _stopping.CancelAsync().ConfigureAwait(false);
        if (!await EndsAsync(options.DrainTimeout, cancellationToken).ConfigureAwait(false))
        {
            _givesUp = true;
            foreach (HeldMessage held in _running.Keys)
                held.Cancel();
            await EndsAsync(Grace, CancellationToken.None).ConfigureAwait(false);
        }
        if (_messages is not null)
            await _messages.DisposeAsync().ConfigureAwait(false);
        // Looked at: where the wait for the subscription was cancelled, nobody else does.
        _ = _subscribed.Task.Exception;
    }

    public void Dispose()
    {
        _stopping.Dispose();
        _failures.Dispose();
    }

    private async Task<bool> EndsAsync(TimeSpan patience, CancellationToken cancellationToken)
    {
        try
        {
            await _ended.WaitAsync(patience, Time, cancellationToken).ConfigureAwait(false);
            return true;
        }
        catch (Exception e) when (e is TimeoutException or OperationCanceledException)
        {
            return false;
        }
    }

    /// <summary>The span in which the processor was started is not that of its messages.</summary>
    private static void LeaveStartersSpan() => Activity.Current = null;

    private async Task ReceiveAsync()
    {
        LeaveStartersSpan();
        // Of its own: what still runs when a stop has left it alone may not touch the source.
        CancellationToken stopping = _stopping.Token;
        TimeSpan delay = FirstDelay;
        while (true)
        {
            IAsyncEnumerator<Message> messages = client.Consume(topic, ToConsumeOptions()).GetAsyncEnumerator(stopping);
            try
            {
                while (await messages.MoveNextAsync().ConfigureAwait(false))
                {
                    _ready.Add(new HeldMessage(messages.Current, Time, options.MaxLockRenewal, OnCancelFailed));
                    delay = FirstDelay;
                }
            }
            catch (OperationCanceledException) when (stopping.IsCancellationRequested)
            {
                // It stays open until the handlers that run have settled their messages on it.
                _messages = messages;
                _subscribed.TrySetCanceled(stopping);
                return;
            }
            catch (Exception e)
            {
                // Not only the client's: what handlers of gaps throw surfaces here, too.
                await messages.DisposeAsync().ConfigureAwait(false);
                if (_subscribed.TrySetException(e))
                    return;
                await ReportAsync(ProcessErrorSource.Receive, e, null).ConfigureAwait(false);
            }
            if (client.IsClosed() || !await WaitAsync(delay, stopping).ConfigureAwait(false))
                return;
            delay = delay * 2 < MaxDelay ? delay * 2 : MaxDelay;
        }
    }

    private ConsumeOptions ToConsumeOptions() =>
        new()
        {
            Group = group,
            SettleMode = SettleMode.Explicit,
            MaxInFlight = options.EffectiveMaxInFlight,
            LockDuration = options.LockDuration,
            Start = options.Start,
            Filter = options.Filter,
            OnSubscribed = _ => _subscribed.TrySetResult(),
        };

    private async Task<bool> WaitAsync(TimeSpan delay, CancellationToken stopping)
    {
        try
        {
            await Task.Delay(delay, Time, stopping).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    private async Task HandleAllAsync()
    {
        LeaveStartersSpan();
        Task settled = Task.CompletedTask;
        while (await _ready.TakeAsync().ConfigureAwait(false) is { } held)
        {
            if (!held.TryBegin())
            {
                Release(held);
                continue;
            }
            Exception? error = await HandleAsync(held).ConfigureAwait(false);
            await settled.ConfigureAwait(false);
            settled = SettleAsync(held, error);
        }
        await settled.ConfigureAwait(false);
    }

    /// <returns>What the handler threw.</returns>
    private async Task<Exception?> HandleAsync(HeldMessage held)
    {
        _running.TryAdd(held, true);
        ProcessObservation observation = default;
        try
        {
            observation = _operations.Begin(held.Message);
            if (_givesUp)
                held.Cancel();
            await handle(new ProcessMessageEventArgs(held.Message, topic, group, held.Token)).ConfigureAwait(false);
            observation.End();
            return null;
        }
        catch (Exception e)
        {
            // Reported, and the message abandoned.
            observation.End(e);
            return e;
        }
        finally
        {
            _running.TryRemove(held, out _);
        }
    }

    private async Task SettleAsync(HeldMessage held, Exception? error)
    {
        try
        {
            if (error is null)
                await CompleteAsync(held).ConfigureAwait(false);
            else if (error is not OperationCanceledException || !held.Token.IsCancellationRequested)
                await AbandonAsync(held, error).ConfigureAwait(false);
            // A handler that was told to give up and did has lost its message, or goes with the subscription: that
            // delivery does not count.
        }
        catch (Exception e)
        {
            // Whatever it is: one message's settlement does not end the loop that handles the others.
            await ReportAsync(ProcessErrorSource.Settle, e, held.Message).ConfigureAwait(false);
        }
        Release(held);
    }

    private async Task CompleteAsync(HeldMessage held)
    {
        if (!options.AutoComplete)
            return;
        // Unknown: the handler has settled it by itself.
        if (await held.Message.CompleteAsync().ConfigureAwait(false) == SettleOutcome.LockExpired)
        {
            throw new LightQException(
                ErrorCode.TimedOut,
                $"Message {held.Message.Offset} of {topic} was handled, but its lock was lost before it could be "
                    + $"completed: it is redelivered."
            );
        }
    }

    private async Task AbandonAsync(HeldMessage held, Exception error)
    {
        await ReportAsync(ProcessErrorSource.Handler, error, held.Message).ConfigureAwait(false);
        // Whatever the outcome: done; settled by the handler before; or the lock is lost, and it comes again as well.
        string reason = $"{error.GetType().Name}: {error.Message}";
        await held
            .Message.AbandonAsync(
                reason: reason.Length <= ProtocolLimits.ReasonLength ? reason : reason[..ProtocolLimits.ReasonLength]
            )
            .ConfigureAwait(false);
    }

    private void Release(HeldMessage held)
    {
        held.Dispose();
        _ready.Leave(held);
    }

    private void OnCancelFailed(Exception e) => _failures.Handler(e, nameof(ProcessMessageEventArgs.CancellationToken));

    private async Task ReportAsync(ProcessErrorSource source, Exception exception, Message? message)
    {
        if (onError is null)
        {
            _failures.Processing(exception, source, message);
            return;
        }
        try
        {
            await onError(new ProcessErrorEventArgs(source, exception, topic, group, message)).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            // There is nobody left to tell.
            _failures.Handler(e, nameof(LightQProcessor.ProcessErrorAsync));
        }
    }
}

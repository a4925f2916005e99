using System.Collections.Concurrent;
using System.Diagnostics;
using LightQ.Client.Connections;
using LightQ.Client.Consuming;
using LightQ.Client.Timing;
using LightQ.Protocol;

namespace LightQ.Client.Processing;

/// <summary>
/// One run of a processor, from start to stop: one loop that receives, and as many that handle as may run at the same
/// time.
/// </summary>
/// <remarks>
/// Everything delivered is taken at once, so that its lock is renewed also while it waits for a handler; the broker
/// bounds how much that is. A message is settled while its loop's next handler runs already: waiting for the answer
/// would leave the handler idle for a round trip. A pause or a stop gives back at once what no handler has, and ends
/// the subscription when nothing is in hand: see <see cref="Circuit"/>.
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

    /// <summary>How long nothing may begin or end while something waits.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    /// <summary>The time that handlers have to end once their tokens are cancelled.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);

    /// <summary>The same where nobody waits any longer: enough for those that react at once.</summary>
    private static readonly TimeSpan ShortGrace = TimeSpan.FromMilliseconds(200);

    private readonly CancellationTokenSource _stopping = new();
    private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ReadyMessages _ready = new(options.Ordering);
    private readonly Circuit _circuit = new(client.Options.TimeProvider);
    private readonly ConcurrentQueue<HeldMessage> _kept = new();
    private readonly Slots _slots = new(client.Logger, client.Options.TimeProvider, topic, group, options);
    private readonly FailureLog _failures = new(client.Logger, client.Options.TimeProvider, topic, group);
    private readonly ProcessOperations _operations = new(
        client.Options,
        AddressArgument.Parse(topic, null).Topic,
        group
    );
    private readonly InFlightWindow _window = new(options.Ahead)
    {
        AtATime = options.AtATime,
        Most = options.MostAhead,
    };
    private ITimer? _watch;
    private int _isWatched;
    private long _movedAt;
    private TimeSpan _worked;
    private int _handled;
    private volatile InFlightWindow? _turn;
    private IAsyncEnumerator<Message>? _messages;
    private Task _ended = Task.CompletedTask;
    private volatile bool _givesUp;
    private volatile Exception? _receiveFailure;

    /// <summary>Why no message is handled; null while messages are, as far as is known.</summary>
    public Exception? Failure =>
        _circuit.Failure ?? _receiveFailure ?? _slots.Failure ?? (_circuit.Turns ? null : _turn?.Lack?.Invoke());

    private TimeProvider Time => client.Options.TimeProvider;

    /// <summary>Begins, and waits for the subscription.</summary>
    /// <exception cref="LightQException">The broker rejected the subscription or cannot be reached.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        _ended = Task.WhenAll([
            OwnTask.Run(ReceiveAsync),
            .. Enumerable.Range(0, options.MaxConcurrency).Select(slot => OwnTask.Run(() => HandleAllAsync(slot))),
        ]);
        await _subscribed.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Ends: running handlers first, then the subscription, which gives back what is left.</summary>
    /// <param name="cancellationToken">Ends the handlers' time.</param>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        long began = Time.GetTimestamp();
        // First, and on this thread: once a stop is asked for, no handler begins.
        _ready.Close();
        Task cancelled = _stopping.CancelAsync();
        LetOthers();
        await cancelled.ConfigureAwait(false);
        if (!await EndsAsync(options.DrainTimeout, cancellationToken).ConfigureAwait(false))
        {
            _givesUp = true;
            HeldMessage[] running = [.. _slots.Running];
            if (running.Length != 0)
            {
                double seconds = Time.GetElapsedTime(began).TotalSeconds;
                ClientLog.HandlersCancelled(client.Logger, topic, group, running.Length, seconds);
            }
            foreach (HeldMessage held in running)
                held.Cancel();
            if (
                !await EndsAsync(Grace, cancellationToken).ConfigureAwait(false)
                && !await EndsAsync(ShortGrace, CancellationToken.None).ConfigureAwait(false)
                && _slots.Running.Count() is > 0 and var left
            )
            {
                ClientLog.HandlersLeft(client.Logger, topic, group, left);
            }
        }
        if (_messages is not null)
            await _messages.DisposeAsync().ConfigureAwait(false);
        // Looked at: where the wait for the subscription was cancelled, nobody else does.
        _ = _subscribed.Task.Exception;
    }

    public void Dispose()
    {
        _watch?.Dispose();
        _slots.Dispose();
        LetGo();
        if (_circuit.Stop())
            _operations.CountPaused(-1);
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

    private async Task ReceiveAsync()
    {
        // Of its own: what still runs when a stop has left it alone may not touch the source.
        CancellationToken stopping = _stopping.Token;
        TimeSpan delay = FirstDelay;
        while (await MayReceiveAsync(stopping).ConfigureAwait(false))
        {
            if (!_circuit.TryBegin(out int turn, out bool isTrial))
                continue;
            var over = new CancellationTokenSource();
            using CancellationTokenRegistration first = stopping.UnsafeRegister(Cancel, over);
            using CancellationTokenRegistration second = _circuit.TurnOver.UnsafeRegister(Cancel, over);
            InFlightWindow window = isTrial ? new InFlightWindow(0) { AtATime = 1 } : _window;
            IAsyncEnumerator<Message> messages = client
                .Consume(topic, ToConsumeOptions(isTrial), window)
                .GetAsyncEnumerator(over.Token);
            _turn = window;
            try
            {
                while (await messages.MoveNextAsync().ConfigureAwait(false))
                {
                    var held = new HeldMessage(messages.Current, options.MaxLockRenewal, OnCancelFailed)
                    {
                        Turn = turn,
                    };
                    if (!_ready.Add(held))
                        GiveBack(held);
                    LetOthers();
                    Watch();
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
            catch (OperationCanceledException) when (over.IsCancellationRequested)
            {
                // Gives back what was not begun, uncounted.
                await messages.DisposeAsync().ConfigureAwait(false);
                continue;
            }
            catch (Exception e)
            {
                // Not only the client's: what handlers of gaps throw surfaces here, too.
                await messages.DisposeAsync().ConfigureAwait(false);
                if (_subscribed.TrySetException(e))
                    return;
                _receiveFailure = e;
                await ReportAsync(ProcessErrorSource.Receive, e, null).ConfigureAwait(false);
            }
            if (client.IsClosed() || !await WaitAsync(delay, stopping).ConfigureAwait(false))
                return;
            delay = delay * 2 < MaxDelay ? delay * 2 : MaxDelay;
        }
    }

    private static void Cancel(object? source) => ((CancellationTokenSource)source!).Cancel();

    /// <summary>Waits until a pause, if there is one, is over.</summary>
    /// <returns>False when the processor stops.</returns>
    private async Task<bool> MayReceiveAsync(CancellationToken stopping)
    {
        if (!_circuit.Turns)
            return !stopping.IsCancellationRequested;
        // The subscription may have been lost before: then handlers may still run.
        using (var either = CancellationTokenSource.CreateLinkedTokenSource(stopping, _circuit.TurnOver))
            await Task.Delay(Timeout.Infinite, either.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        LetGo();
        while (!stopping.IsCancellationRequested && _circuit.PauseLeft is { } left)
        {
            if (left > TimeSpan.Zero)
            {
                await WaitAsync(left, stopping).ConfigureAwait(false);
                continue;
            }
            _circuit.Try();
            if (await ProbeAsync().ConfigureAwait(false) is { } error)
                _circuit.Pause(error, error.Duration);
        }
        return !stopping.IsCancellationRequested;
    }

    /// <summary>Makes what handles messages, without a message.</summary>
    /// <returns>Why it cannot be made.</returns>
    private async Task<ProcessorPausedException?> ProbeAsync()
    {
        try
        {
            await (client.Probe?.Invoke() ?? Task.CompletedTask).ConfigureAwait(false);
            return null;
        }
        catch (ProcessorPausedException e)
        {
            return e;
        }
    }

    /// <summary>What an older broker does not take back goes with the subscription: nothing renews it.</summary>
    private void LetGo()
    {
        _ready.Clear();
        while (_kept.TryDequeue(out HeldMessage? kept))
            kept.Dispose();
    }

    private ConsumeOptions ToConsumeOptions(bool isTrial) =>
        new()
        {
            Group = group,
            SettleMode = SettleMode.Explicit,
            MaxInFlight = isTrial ? 1 : options.EffectiveMaxInFlight,
            LockDuration = options.LockDuration,
            MaxLockRenewal = options.MaxLockRenewal,
            Start = options.Start,
            Filter = options.Filter,
            OnSubscribed = _ =>
            {
                _receiveFailure = null;
                _subscribed.TrySetResult();
            },
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

    private async Task HandleAllAsync(int slot)
    {
        Task settled = Task.CompletedTask;
        var hand = new InHand();
        while (await _ready.TakeAsync().ConfigureAwait(false) is { } held)
        {
            Volatile.Write(ref _movedAt, Time.GetTimestamp());
            if (!held.TryBegin())
            {
                Release(held);
                continue;
            }
            bool mayEnter = !_stopping.IsCancellationRequested && _circuit.TryEnter(held.Turn);
            if (!mayEnter)
                GiveBack(held);
            LetOthers();
            if (!mayEnter)
                continue;
            if (!await held.BeginAsync(hand).ConfigureAwait(false))
            {
                Leave(works: false);
                Release(held);
                continue;
            }
            long began = Time.GetTimestamp();
            (Exception? error, bool isPaused) = await HandleAsync(slot, held).ConfigureAwait(false);
            OnHandled(began);
            hand.Clear();
            await settled.ConfigureAwait(false);
            settled = isPaused ? ReturnAsync(held) : SettleAsync(held, error);
        }
        await settled.ConfigureAwait(false);
    }

    /// <summary>Sizes what is delivered ahead by how fast the handlers are together.</summary>
    private void OnHandled(long began)
    {
        long now = Time.GetTimestamp();
        Volatile.Write(ref _movedAt, now);
        bool isOther;
        lock (_window)
        {
            _worked += Time.GetElapsedTime(began, now) / options.MaxConcurrency;
            _handled++;
            if (!_window.IsWorthALook(_handled) && _worked < InFlightWindow.Work)
                return;
            isOther = _window.OnWorked(_handled, _worked);
            (_worked, _handled) = (TimeSpan.Zero, 0);
        }
        if (isOther)
            _window.Changed?.Invoke();
    }

    /// <summary>Looks again and again, while something waits, whether it waits in vain.</summary>
    private void Watch()
    {
        if (_watch is not null && Interlocked.Exchange(ref _isWatched, 1) != 0)
            return;
        Volatile.Write(ref _movedAt, Time.GetTimestamp());
        _watch ??= ClientTimer.Create(Time, static run => ((ProcessorRun)run!).LookForStandstill(), this);
        _watch.Change(Patience, Timeout.InfiniteTimeSpan);
    }

    /// <summary>When no handler has begun or ended for a while, other members get what waits for one.</summary>
    private void LookForStandstill()
    {
        TimeSpan still = Time.GetElapsedTime(Volatile.Read(ref _movedAt));
        if (still < Patience)
        {
            _watch!.Change(Patience - still, Timeout.InfiniteTimeSpan);
            return;
        }
        Volatile.Write(ref _isWatched, 0); // The next message begins it again.
        if (!_slots.Running.Any(static held => held.Message.DeliveryLock.CanGiveBack))
            return;
        lock (_window)
            _window.OnStoodStill();
        _window.Changed?.Invoke();
        _ready.GiveBack(_kept);
    }

    /// <summary>
    /// When nothing more is begun, other members get what waits, though handlers still run that settle on this
    /// subscription.
    /// </summary>
    private void LetOthers()
    {
        // Before the look: the turn may end meanwhile, and the next one begin, whose subscription is not to end.
        Action? end = _turn?.Ended;
        if (!_circuit.Turns && !_stopping.IsCancellationRequested)
            return;
        end?.Invoke(); // First: nothing comes in the place of what goes back.
        _ready.GiveBack(_kept);
        end?.Invoke(); // Nothing may be left of some partitions.
    }

    /// <summary>A message goes back, uncounted: at once if the broker knows how, else with its subscription.</summary>
    private void GiveBack(HeldMessage held)
    {
        if (held.Message.DeliveryLock.CanGiveBack)
            HeldMessage.GiveBack([held]);
        else
            _kept.Enqueue(held);
    }

    /// <returns>What the handler threw, and whether it has paused the processor.</returns>
    private async Task<(Exception? Error, bool IsPaused)> HandleAsync(int slot, HeldMessage held)
    {
        _slots.Begin(slot, held);
        var args = new ProcessMessageEventArgs(held.Message, topic, group, Pause, held.Token);
        ProcessObservation observation = default;
        try
        {
            observation = _operations.Begin(held.Message);
            held.Span = observation.Span;
            if (_givesUp)
                held.Cancel();
            await handle(args).ConfigureAwait(false);
            observation.End();
            return (null, args.IsPaused);
        }
        catch (Exception e)
        {
            // Reported, and the message abandoned; or the processor pauses.
            observation.End(e);
            return (e, PausesBy(e) || args.IsPaused);
        }
        finally
        {
            _slots.End(slot);
        }
    }

    /// <summary>Pauses if an exception, or what is inside, asks for it.</summary>
    private bool PausesBy(Exception exception)
    {
        ProcessorPausedException? pause = exception switch
        {
            ProcessorPausedException asked => asked,
            UnusableSerializerException e => new ProcessorPausedException(e.Message, null, e),
            _ => null,
        };
        if (pause is not null)
        {
            Pause(pause);
            return true;
        }
        return exception is AggregateException several
            ? several.InnerExceptions.Any(PausesBy)
            : exception.InnerException is { } inner && PausesBy(inner);
    }

    private void Pause(ProcessorPausedException pause)
    {
        TimeSpan? worked = _circuit.Pause(pause, pause.Duration);
        LetOthers();
        if (worked is not { } time)
            return;
        _operations.CountPaused(1);
        ClientLog.ProcessorPaused(client.Logger, pause, topic, group, pause.Message, time.TotalSeconds);
        if (onError is not null)
            _ = ReportAsync(ProcessErrorSource.Pause, pause, null);
    }

    /// <summary>A message is not to blame that its handler has paused the processor.</summary>
    private Task ReturnAsync(HeldMessage held)
    {
        GiveBack(held);
        Leave(works: false);
        return Task.CompletedTask;
    }

    private void Leave(bool works)
    {
        bool worksAgain = _circuit.Leave(works);
        LetOthers();
        if (!worksAgain)
            return;
        _operations.CountPaused(-1);
        ClientLog.ProcessorWorks(client.Logger, topic, group, _circuit.PausedFor.TotalSeconds);
    }

    private async Task SettleAsync(HeldMessage held, Exception? error)
    {
        // A handler that was told to give up and did has lost its message, or goes with the subscription: that delivery
        // does not count.
        bool gaveUp = error is OperationCanceledException && held.Token.IsCancellationRequested;
        try
        {
            if (error is null)
            {
                await CompleteAsync(held).ConfigureAwait(false);
            }
            else if (!gaveUp && !await AbandonAsync(held, error).ConfigureAwait(false))
            {
                await ReturnAsync(held).ConfigureAwait(false);
                return;
            }
        }
        catch (Exception e)
        {
            // Whatever it is: one message's settlement does not end the loop that handles the others.
            await ReportAsync(ProcessErrorSource.Settle, e, held.Message, held.Span).ConfigureAwait(false);
        }
        Release(held);
        Leave(works: !gaveUp);
    }

    private async Task CompleteAsync(HeldMessage held)
    {
        if (!options.AutoComplete)
        {
            held.Message.DeliveryLock.AskForMore(); // It may collect messages to complete them together.
            return;
        }
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

    /// <returns>False if the error handler has paused the processor: the message is not to blame.</returns>
    private async Task<bool> AbandonAsync(HeldMessage held, Exception error)
    {
        RetryRule? rule = RetryRule.Find(options.Retries, error);
        if (await ReportAsync(ProcessErrorSource.Handler, error, held.Message, held.Span, rule).ConfigureAwait(false))
            return false;
        // Whatever the outcome: done; settled by the handler before; or the lock is lost, and it comes again as well.
        string reason = $"{error.GetType().Name}: {error.Message}";
        if (reason.Length > ProtocolLimits.ReasonLength)
            reason = reason[..ProtocolLimits.ReasonLength];
        if (rule is { Delay: null })
        {
            if (await held.Message.DeadLetterAsync(reason).ConfigureAwait(false) == SettleOutcome.Done)
                _failures.LastDelivery(error, held.Message);
            return true;
        }
        SettleOutcome outcome = await held.Message.AbandonAsync(rule?.Delay, reason).ConfigureAwait(false);
        if (
            outcome == SettleOutcome.Done
            && held.Message.DeliveryLock.Terms is { } terms
            && terms.DelayAfter(held.Message.DeliveryCount) is null
        )
        {
            _failures.LastDelivery(error, held.Message);
        }
        return true;
    }

    private void Release(HeldMessage held)
    {
        held.Dispose();
        _ready.Leave(held);
    }

    private void OnCancelFailed(Exception e) => _failures.Handler(e, nameof(ProcessMessageEventArgs.CancellationToken));

    /// <param name="source">Where it failed.</param>
    /// <param name="exception">How.</param>
    /// <param name="message">With which message; null for none.</param>
    /// <param name="span">That of the message: what the error handler does and logs belongs to it.</param>
    /// <param name="rule">What the options say of the message; null where the topic says it.</param>
    /// <returns>Whether the error handler has paused the processor.</returns>
    private async Task<bool> ReportAsync(
        ProcessErrorSource source,
        Exception exception,
        Message? message,
        Activity? span = null,
        RetryRule? rule = null
    )
    {
        Activity.Current = span;
        if (onError is null)
        {
            _failures.Processing(exception, source, message, rule);
            return false;
        }
        try
        {
            await onError(new ProcessErrorEventArgs(source, exception, topic, group, message)).ConfigureAwait(false);
            return false;
        }
        catch (Exception e) when (source == ProcessErrorSource.Handler && PausesBy(e))
        {
            return true;
        }
        catch (Exception e)
        {
            // There is nobody left to tell.
            _failures.Handler(e, nameof(LightQProcessor.ProcessErrorAsync));
            return false;
        }
    }
}

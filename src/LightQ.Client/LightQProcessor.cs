using LightQ.Client.Processing;
using LightQ.Protocol;

namespace LightQ.Client;

/// <summary>
/// Hands the messages of a group to a handler, several at a time, and settles each message by the outcome of its
/// handler.
/// </summary>
/// <remarks>
/// <para>
/// Thread-safe. For durable topics. Each message is handed out at least once. It is redelivered when its handler threw,
/// when its lock was lost, and when this program ended before it was completed. While a handler runs, its message's
/// lock is renewed. Reconnects by itself, and subscribes again when the broker ended the subscription.
/// </para>
/// <para>
/// If <see cref="ProcessorOptions.Ordering"/> asks for order, it is the order in which the broker delivers. An
/// abandoned message is redelivered later, after others that were delivered meanwhile. If that is too late for a
/// handler, the handler itself tries again before it throws. Across the members of a group, the order of a key holds
/// only on topics with several partitions, where each partition belongs to one member.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// await using LightQProcessor processor = client.CreateProcessor("orders", "billing", new() { MaxConcurrency = 8 });
/// processor.ProcessMessageAsync += async args => await BillAsync(args.Message.Body, args.CancellationToken);
/// processor.ProcessErrorAsync += args => { Console.Error.WriteLine(args.Exception); return Task.CompletedTask; };
/// await processor.StartAsync();
/// </code>
/// </example>
public sealed class LightQProcessor : IAsyncDisposable
{
    private readonly LightQClient _client;
    private readonly SemaphoreSlim _turn = new(1, 1);
    private Func<ProcessMessageEventArgs, Task>? _handle;
    private Func<ProcessErrorEventArgs, Task>? _onError;
    private ProcessorRun? _run;
    private bool _isDisposed;

    internal LightQProcessor(LightQClient client, string topic, string group, ProcessorOptions options)
    {
        ArgumentNullException.ThrowIfNull(group);
        AddressArgument.Parse(topic, null);
        if (!TopicName.IsValid(group))
            throw new ArgumentException($"'{group}' is not a group's name: {TopicName.Rule}.", nameof(group));
        (_client, Topic, Group, Options) = (client, topic, group, options);
    }

    /// <summary>
    /// The handler: one, set before the start. Called at most <see cref="ProcessorOptions.MaxConcurrency"/> times at
    /// once, on the thread pool. When it throws, the message is abandoned: it is redelivered after the topic's retry
    /// delay, and dead-lettered when it was delivered as often as the topic allows. If not the message is to blame but
    /// something that all messages need, the handler pauses the processor:
    /// <see cref="ProcessMessageEventArgs.PauseAsync"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">A handler is set already, or the processor runs.</exception>
    public event Func<ProcessMessageEventArgs, Task> ProcessMessageAsync
    {
        add => Set(ref _handle, value, nameof(ProcessMessageAsync));
        remove => Unset(ref _handle, value);
    }

    /// <summary>
    /// Called when something failed: one handler, set before the start. The processor awaits it before it abandons the
    /// message, so the handler may also settle the message itself. Without a handler, failures are logged. An exception
    /// of the handler is logged.
    /// </summary>
    /// <exception cref="InvalidOperationException">A handler is set already, or the processor runs.</exception>
    public event Func<ProcessErrorEventArgs, Task> ProcessErrorAsync
    {
        add => Set(ref _onError, value, nameof(ProcessErrorAsync));
        remove => Unset(ref _onError, value);
    }

    /// <summary>The topic's name.</summary>
    public string Topic { get; }

    /// <summary>The group's name.</summary>
    public string Group { get; }

    /// <summary>The options that the processor was created with.</summary>
    public ProcessorOptions Options { get; }

    /// <summary>Whether the processor was started and not stopped.</summary>
    public bool IsRunning => Volatile.Read(ref _run) is not null;

    /// <summary>
    /// Why the processor handles no messages: it pauses (<see cref="ProcessMessageEventArgs.PauseAsync"/>), the broker
    /// has ended its subscription, or each handler has run for <see cref="ProcessorOptions.MaxLockRenewal"/> and keeps
    /// its slot. Null while it handles what comes, as far as is known, and while it is stopped.
    /// </summary>
    public Exception? Failure => Volatile.Read(ref _run)?.Failure;

    /// <summary>Makes what handles messages, without a message; null where only the handler knows how.</summary>
    /// <remarks>Throws a <see cref="ProcessorPausedException"/> if it cannot be made.</remarks>
    internal Func<Task>? Probe { get; set; }

    /// <summary>Starts the processor. Does nothing when it runs already.</summary>
    /// <param name="cancellationToken">Ends the wait for the subscription, and the attempt to start.</param>
    /// <exception cref="InvalidOperationException"><see cref="ProcessMessageAsync"/> is not set.</exception>
    /// <exception cref="LightQException">
    /// The broker rejected the subscription, for example because the topic is unknown or not durable, or cannot be
    /// reached.
    /// </exception>
    public async Task StartAsync(CancellationToken cancellationToken = default)
    {
        await _turn.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (_run is not null)
                return;
            Func<ProcessMessageEventArgs, Task> handle =
                _handle ?? throw new InvalidOperationException($"Set {nameof(ProcessMessageAsync)} before the start.");
            var client = new ProcessorClient(
                _client.Options,
                _client.Logger,
                (topic, options, window) => _client.Consume(topic, options, default, window),
                () => _client.State == ConnectionState.Closed,
                Probe
            );
            var run = new ProcessorRun(client, Topic, Group, Options, handle, _onError);
            try
            {
                await run.StartAsync(cancellationToken).ConfigureAwait(false);
            }
            catch
            {
                await run.StopAsync(cancellationToken).ConfigureAwait(false);
                run.Dispose();
                throw;
            }
            Volatile.Write(ref _run, run);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>
    /// Stops the processor. It takes no more messages, and lets running handlers end within
    /// <see cref="ProcessorOptions.DrainTimeout"/>. Then it cancels their tokens and waits up to 5 s for the handlers
    /// that react. It gives all other messages back to the group at once; that delivery does not count. A handler that
    /// still runs then is left alone. Does nothing when the processor does not run; it may be started again.
    /// </summary>
    /// <param name="cancellationToken">
    /// Ends the time that handlers have, but for a fifth of a second for those that react to their own token. The
    /// messages are given back all the same, and nothing is thrown.
    /// </param>
    public async Task StopAsync(CancellationToken cancellationToken = default)
    {
        await _turn.WaitAsync(CancellationToken.None).ConfigureAwait(false);
        try
        {
            if (_run is null)
                return;
            await _run.StopAsync(cancellationToken).ConfigureAwait(false);
            _run.Dispose();
            Volatile.Write(ref _run, null);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Stops the processor, which cannot be started again.</summary>
    public async ValueTask DisposeAsync()
    {
        _isDisposed = true;
        await StopAsync().ConfigureAwait(false);
    }

    private void Set<T>(ref T? handler, T value, string name)
        where T : Delegate
    {
        ArgumentNullException.ThrowIfNull(value);
        if (IsRunning)
            throw new InvalidOperationException($"Set {name} before the start.");
        if (Interlocked.CompareExchange(ref handler, value, null) is not null)
            throw new InvalidOperationException($"{name} has a handler already, and takes only one.");
    }

    private void Unset<T>(ref T? handler, T value)
        where T : Delegate
    {
        if (IsRunning)
            throw new InvalidOperationException("Handlers cannot be removed while the processor runs.");
        if (handler == value)
            handler = null;
    }
}

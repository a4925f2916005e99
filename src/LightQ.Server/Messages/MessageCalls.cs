using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Server.DataPlane;

namespace LightQ.Server.Messages;

/// <summary>The open calls that carry messages. Thread-safe.</summary>
/// <param name="listener">Numbers the calls among the connections.</param>
/// <param name="time">The clock of connections.</param>
internal sealed class MessageCalls(DataListener listener, TimeProvider time)
{
    /// <summary>How long a call whose time is over has to say so; after that its transport is cut.</summary>
    private static readonly TimeSpan LastWords = TimeSpan.FromSeconds(1);

    private readonly ConcurrentDictionary<uint, MessageCall> _calls = new();
    private readonly TaskCompletionSource _allEnded = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile StrongBox<TimeSpan>? _stopTimeout;

    /// <summary>The clock of connections.</summary>
    public TimeProvider Time => time;

    /// <summary>The open calls.</summary>
    public IEnumerable<MessageCall> Open => _calls.Values;

    /// <summary>An open call; null when it has ended.</summary>
    public MessageCall? Find(uint id) => _calls.GetValueOrDefault(id);

    /// <summary>Keeps account of a call as long as it runs.</summary>
    /// <param name="context">The call.</param>
    /// <param name="make">Makes it, given the number that it has among the connections.</param>
    /// <param name="run">Serves it.</param>
    public async Task RunAsync<TCall>(ServerCallContext context, Func<uint, DateTimeOffset, TCall> make, Func<TCall, Task> run)
        where TCall : MessageCall
    {
        context.CancellationToken.ThrowIfCancellationRequested();
        TCall call = make(listener.NextId(), time.GetUtcNow());
        _calls[call.ConnectionId] = call;
        if (_stopTimeout is { } timeLeft)
            call.BeginStop(timeLeft.Value); // It came while the others were told.
        try
        {
            await run(call).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (_stopTimeout is not null && !context.CancellationToken.IsCancellationRequested)
        {
            throw new BrokerException(ErrorCode.ShuttingDown, "The broker is stopping.");
        }
        finally
        {
            call.Ended();
            _calls.TryRemove(call.ConnectionId, out _);
            if (_stopTimeout is not null && _calls.IsEmpty)
                _allEnded.TrySetResult();
        }
    }

    /// <summary>Ends what may not go on, after somebody's rights have changed.</summary>
    public void Review()
    {
        foreach (MessageCall call in _calls.Values)
            call.Review();
    }

    /// <summary>Tells the calls that the broker stops in so long, and waits for nothing.</summary>
    public void BeginStop(TimeSpan timeLeft)
    {
        _stopTimeout = new StrongBox<TimeSpan>(timeLeft);
        foreach (MessageCall call in _calls.Values)
            call.BeginStop(timeLeft);
    }

    /// <summary>Tells the calls, waits for them up to <paramref name="timeout"/>, then ends them.</summary>
    public async Task StopAsync(TimeSpan timeout)
    {
        BeginStop(timeout);
        if (_calls.IsEmpty)
            return;
        await _allEnded.Task.WaitAsync(timeout, time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        foreach (MessageCall call in _calls.Values)
            call.EndStop();
        if (!_calls.IsEmpty)
            await _allEnded.Task.WaitAsync(LastWords, time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }
}

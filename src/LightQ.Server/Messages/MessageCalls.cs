using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Server.Connections;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Messages;

/// <summary>
/// Who has producers or subscriptions over gRPC: open calls that carry messages, and members of groups between calls.
/// Thread-safe.
/// </summary>
/// <param name="listener">Numbers the calls among the connections.</param>
/// <param name="limits">The limits.</param>
/// <param name="time">The clock of connections.</param>
internal sealed class MessageCalls(ConnectionListener listener, ServerLimits limits, TimeProvider time)
{
    /// <summary>How long a call whose time is over has to report that; after that its transport is cut.</summary>
    private static readonly TimeSpan LastWords = TimeSpan.FromSeconds(1);

    private readonly ConcurrentDictionary<uint, MessageClient> _calls = new();
    private readonly TaskCompletionSource _allEnded = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile StrongBox<TimeSpan>? _stopTimeout;

    /// <summary>The clock of connections.</summary>
    public TimeProvider Time => time;

    /// <summary>Whether the broker is about to stop.</summary>
    public bool IsStopping => _stopTimeout is not null;

    /// <summary>All of them.</summary>
    public IEnumerable<MessageClient> Open => _calls.Values;

    /// <summary>One of them; null when it has ended.</summary>
    public MessageClient? Find(uint id) => _calls.GetValueOrDefault(id);

    /// <summary>Keeps account of a call as long as it runs.</summary>
    /// <param name="context">The call.</param>
    /// <param name="make">Makes it, given the number that it has among the connections.</param>
    /// <param name="run">Serves it.</param>
    public async Task RunAsync<TCall>(
        ServerCallContext context,
        Func<uint, DateTimeOffset, TCall> make,
        Func<TCall, Task> run
    )
        where TCall : MessageCall
    {
        context.CancellationToken.ThrowIfCancellationRequested();
        TCall call = make(listener.NextId(), time.GetUtcNow());
        Add(call);
        try
        {
            await run(call).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
            when (_stopTimeout is not null && !context.CancellationToken.IsCancellationRequested)
        {
            throw new BrokerException(ErrorCode.ShuttingDown, "The broker is stopping.");
        }
        finally
        {
            call.Ended();
            Remove(call);
        }
    }

    /// <summary>Counts what a call holds in memory besides its requests and answers.</summary>
    public BodyAccount NewAccount(ServerCallContext context)
    {
        HttpContext http = context.GetHttpContext();
        return new(limits, http.Connection.RemoteIpAddress) { User = CallPrincipal.Find(http)?.Source };
    }

    /// <summary>A number for one that is to be added.</summary>
    public uint NextId() => listener.NextId();

    /// <summary>Keeps account of one until it is removed.</summary>
    public void Add(MessageClient client)
    {
        _calls[client.ConnectionId] = client;
        if (_stopTimeout is { } timeLeft)
            client.BeginStop(timeLeft.Value); // It came while the others were told.
    }

    /// <summary>One has ended.</summary>
    public void Remove(MessageClient client)
    {
        _calls.TryRemove(client.ConnectionId, out _);
        if (_stopTimeout is not null && _calls.IsEmpty)
            _allEnded.TrySetResult();
    }

    /// <summary>Rights have changed: ends the calls that are no longer allowed.</summary>
    public void Review()
    {
        foreach (MessageClient call in _calls.Values)
            call.Review();
    }

    /// <summary>Tells the calls that the broker stops in so long, and waits for nothing.</summary>
    public void BeginStop(TimeSpan timeLeft)
    {
        _stopTimeout = new StrongBox<TimeSpan>(timeLeft);
        foreach (MessageClient call in _calls.Values)
            call.BeginStop(timeLeft);
    }

    /// <summary>Tells the calls, waits for them up to <paramref name="timeout"/>, then ends them.</summary>
    public async Task StopAsync(TimeSpan timeout)
    {
        BeginStop(timeout);
        foreach (MessageClient call in _calls.Values.Where(c => !c.CanBeTold))
            call.EndStop();
        if (_calls.IsEmpty)
            return;
        await _allEnded.Task.WaitAsync(timeout, time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        foreach (MessageClient call in _calls.Values)
            call.EndStop();
        if (!_calls.IsEmpty)
            await _allEnded.Task.WaitAsync(LastWords, time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }
}

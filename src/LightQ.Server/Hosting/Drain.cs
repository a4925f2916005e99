using LightQ.Broker;
using LightQ.Server.Connections;
using LightQ.Server.Messages;

namespace LightQ.Server.Hosting;

/// <summary>
/// Lets clients finish before the broker stops: nothing new is opened, members of groups get no more messages, and what
/// is under way comes to its end.
/// </summary>
/// <remarks>
/// Clients get a GoAway at once, and leave by themselves when they have nothing under way. A client that stays silent
/// is closed once it has nothing under way either, after <see cref="Grace"/>, in which everything that it sent before
/// the GoAway arrives.
/// </remarks>
internal sealed class Drain
{
    /// <summary>How long a client with nothing under way may stay without a word.</summary>
    public static readonly TimeSpan Grace = TimeSpan.FromSeconds(1);

    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);

    private readonly LightQBroker _broker;
    private readonly ConnectionListener _listener;
    private readonly MessageCalls _calls;
    private readonly TimeProvider _time;
    private readonly TimeSpan _timeout;
    private readonly long _began;
    private readonly TaskCompletionSource _cutShort = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile DrainProgress _progress = new(0, 0, 0);

    /// <summary>Begins.</summary>
    public Drain(
        LightQBroker broker,
        ConnectionListener listener,
        MessageCalls calls,
        TimeProvider time,
        TimeSpan timeout
    )
    {
        (_broker, _listener, _calls, _time, _timeout) = (broker, listener, calls, time, timeout);
        _began = time.GetTimestamp();
        _broker.BeginDrain();
        _broker.Replicas.Members?.Drain(); // Its partitions are served on; clients find their new leaders.
        _calls.BeginStop(timeout);
        TryEnd();
        Completion = Task.Run(RunAsync);
    }

    /// <summary>Completes when nothing is under way any more, or the time is over.</summary>
    public Task Completion { get; }

    /// <summary>What is under way.</summary>
    public DrainProgress Progress => _progress;

    /// <summary>How long clients have at most.</summary>
    public TimeSpan TimeLeft =>
        _timeout - _time.GetElapsedTime(_began) is var left && left > TimeSpan.Zero ? left : TimeSpan.Zero;

    /// <summary>Waits no longer.</summary>
    public void CutShort() => _cutShort.TrySetResult();

    private async Task RunAsync()
    {
        while (!TryEnd() && TimeLeft > TimeSpan.Zero && !_cutShort.Task.IsCompleted)
            await _cutShort.Task.WaitAsync(Look, _time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>Looks at every client, and closes those that have nothing left to do.</summary>
    /// <returns>Whether no client is left.</returns>
    private bool TryEnd()
    {
        int connections = 0,
            busyProducers = 0;
        long held = 0;
        TimeSpan since = _time.GetElapsedTime(_began);
        foreach (ClientConnection connection in _listener.Connections)
        {
            if (!connection.Protocol.IsWelcomed)
                continue; // It is refused when it says Hello.
            connection.GoAway(TimeLeft);
            (int busy, long holds) = connection.Protocol.Streams.CountUnderWay();
            (connections, busyProducers, held) = (connections + 1, busyProducers + busy, held + holds);
            if (busy == 0 && holds == 0 && since >= Grace && connection.Unheard >= Grace)
                connection.Finish();
        }
        foreach (MessageClient call in _calls.Open)
        {
            (int busy, long holds) = call.CountUnderWay();
            (connections, busyProducers, held) = (connections + 1, busyProducers + busy, held + holds);
            if (busy == 0 && holds == 0 && since >= Grace)
                call.EndStop();
        }
        _progress = new DrainProgress(connections, busyProducers, held);
        return connections == 0;
    }
}

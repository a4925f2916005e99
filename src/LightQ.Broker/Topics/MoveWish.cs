using LightQ.Broker.Cluster;

namespace LightQ.Broker.Topics;

/// <summary>That an operator wishes a node to lead a partition: one wish at a time. Thread-safe.</summary>
internal sealed class MoveWish
{
    private readonly Lock _lock = new();
    private string _to = "";
    private TaskCompletionSource<string>? _done;

    /// <summary>The node, until it is known what has become of it; null for none.</summary>
    public string? To
    {
        get
        {
            lock (_lock)
                return _done is null ? null : _to;
        }
    }

    /// <summary>Wishes it.</summary>
    /// <param name="to">The node.</param>
    /// <param name="done">Completes with the reason why not; empty when that node leads it.</param>
    /// <returns>Another node that is wished already; null for none.</returns>
    public string? Begin(string to, out Task<string> done)
    {
        lock (_lock)
        {
            if (_done is null)
            {
                (_to, _done) = (
                    to,
                    new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously)
                );
            }
            done = _done.Task;
            return _to == to ? null : _to;
        }
    }

    /// <summary>What has become of it, if it is still wished.</summary>
    /// <param name="to">The node that was wished; null for none.</param>
    /// <param name="reason">Why it does not lead it; empty when it does.</param>
    public void End(string? to, string reason)
    {
        lock (_lock)
        {
            if (_done is null || _to != to)
                return;
            _done.SetResult(reason);
            _done = null;
        }
    }

    /// <summary>A node leads the partition.</summary>
    public void Answer(in Situation now)
    {
        if (now.IsLed && To is { } to)
            End(to, now.Leader == to ? "" : $"the node {now.Leader} leads it now");
    }
}

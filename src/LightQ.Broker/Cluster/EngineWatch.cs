using LightQ.Broker.Replication;

namespace LightQ.Broker.Cluster;

/// <summary>
/// Looks at the engine again and again: which of its nodes are there and store, whether the replicas of the streams
/// that this node uses are whole, and how near its limits are. What it finds is a condition.
/// </summary>
/// <param name="replication">The engine, and where to say it.</param>
/// <param name="streams">The streams of partitions that this node leads.</param>
/// <param name="full">Why the engine takes nothing of one of them; null while it does.</param>
/// <param name="time">The clock.</param>
internal sealed class EngineWatch(
    ReplicationOptions replication,
    Func<IReadOnlyList<string>> streams,
    Func<string?> full,
    TimeProvider time
) : IAsyncDisposable
{
    /// <summary>So many streams are asked about in one look; the next look asks about the next ones.</summary>
    private const int StreamsPerLook = 32;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(2),
        Patience = TimeSpan.FromSeconds(5),
        // Under load a replica is behind for a moment, and an election takes one.
        Passing = TimeSpan.FromSeconds(10);

    private static readonly Dictionary<EngineProblemKind, ConditionKind> Kinds = new()
    {
        [EngineProblemKind.NodeOffline] = ConditionKind.EngineNodeOffline,
        [EngineProblemKind.NodeOff] = ConditionKind.EngineNodeOff,
        [EngineProblemKind.ReplicaLags] = ConditionKind.EngineReplicaLags,
        [EngineProblemKind.LimitNear] = ConditionKind.EngineLimitNear,
        [EngineProblemKind.LimitReached] = ConditionKind.EngineFull,
        [EngineProblemKind.NoLeader] = ConditionKind.EngineNoLeader,
    };

    private readonly CancellationTokenSource _stop = new();
    private readonly Dictionary<(ConditionKind Kind, string Subject), long> _seen = [];
    private readonly HashSet<(ConditionKind Kind, string Subject)> _told = [];
    private int _next;
    private Task _running = Task.CompletedTask;

    private ClusterConditions Conditions => replication.Conditions;

    /// <summary>Begins to look.</summary>
    public void Begin() => _running = Task.Run(RunAsync);

    /// <summary>Ends that.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
    }

    /// <summary>Looks once.</summary>
    /// <exception cref="ReplicationException">The engine cannot be asked.</exception>
    internal async Task LookAsync(CancellationToken cancellationToken)
    {
        List<EngineProblem> found =
        [
            .. await replication.Engine.FindProblemsAsync(Choose(), cancellationToken).ConfigureAwait(false),
        ];
        if (full() is { } reason)
        {
            found.RemoveAll(static problem => problem.Kind == EngineProblemKind.LimitReached);
            found.Add(
                new EngineProblem(
                    EngineProblemKind.LimitReached,
                    "",
                    reason,
                    "Raise that limit of the nats-servers, or make room: delete topics, or let retention remove more. "
                        + "Messages can be read meanwhile."
                )
            );
        }
        Apply(found);
    }

    private void Apply(List<EngineProblem> found)
    {
        long now = time.GetTimestamp();
        Dictionary<(ConditionKind Kind, string Subject), EngineProblem> kept = [];
        foreach (EngineProblem problem in found)
            kept[(Kinds[problem.Kind], problem.Subject)] = problem;
        foreach ((ConditionKind, string) gone in _seen.Keys.Where(key => !kept.ContainsKey(key)).ToArray())
        {
            _seen.Remove(gone);
            if (_told.Remove(gone))
                Conditions.End(gone.Item1, gone.Item2);
        }
        foreach (((ConditionKind Kind, string Subject) key, EngineProblem problem) in kept)
        {
            bool isNew = _seen.TryAdd(key, now);
            TimeSpan patience = problem.Kind == EngineProblemKind.ReplicaLags ? Passing : TimeSpan.Zero;
            // What was seen once may be an election; a limit is no matter of a moment.
            bool lasts = !isNew || problem.Kind is EngineProblemKind.LimitReached or EngineProblemKind.LimitNear;
            if (!lasts || time.GetElapsedTime(_seen[key], now) < patience)
                continue;
            _told.Add(key);
            Conditions.Begin(key.Kind, key.Subject, problem.Detail, problem.Remedy);
        }
    }

    private string[] Choose()
    {
        IReadOnlyList<string> all = streams();
        if (all.Count <= StreamsPerLook)
            return [replication.CatalogStream, .. all];
        string[] some = [.. Enumerable.Range(_next, StreamsPerLook).Select(i => all[i % all.Count])];
        _next = (_next + StreamsPerLook) % all.Count;
        return [replication.CatalogStream, .. some];
    }

    private async Task RunAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            await Task.Delay(Interval, time, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (_stop.IsCancellationRequested)
                return;
            using var late = new CancellationTokenSource(Patience, time);
            using var ending = CancellationTokenSource.CreateLinkedTokenSource(late.Token, _stop.Token);
            try
            {
                await LookAsync(ending.Token).ConfigureAwait(false);
            }
            catch (Exception e) when (e is ReplicationException or OperationCanceledException)
            {
                // None of its nodes answers: the catalog's readers notice, and say so.
            }
        }
    }
}

namespace LightQ.Broker.Cluster;

/// <summary>
/// What is wrong with the cluster, as this node sees it and as the others say: one place for log, doctor, status and
/// health. Thread-safe.
/// </summary>
internal sealed class ClusterConditions
{
    /// <summary>So many of a node's are told to the others; a message must stay small.</summary>
    private const int MostTold = 50;

    private readonly Lock _lock = new();
    private readonly SortedDictionary<string, (ConditionKind Kind, ClusterCondition Condition)> _own = new(
        StringComparer.Ordinal
    );
    private readonly Dictionary<string, IReadOnlyList<ClusterCondition>> _others = new(StringComparer.Ordinal);

    /// <summary>Raised when a condition of this node has begun, changed or ended.</summary>
    public event Action? Changed;

    /// <summary>Gets each condition once, and its end; null for none.</summary>
    public IClusterEvents? Events { get; set; }

    /// <summary>Those of this node that the others are told.</summary>
    public IReadOnlyList<ClusterCondition> Told
    {
        get
        {
            lock (_lock)
                return [.. _own.Values.Select(c => c.Condition).Take(MostTold)];
        }
    }

    /// <summary>Why this node is not ready; null while it is.</summary>
    public string? NotReady
    {
        get
        {
            lock (_lock)
                return _own.Values.FirstOrDefault(c => c.Kind.EndsReadiness).Kind?.Summary;
        }
    }

    /// <summary>What health says of those of this node, a kind a line.</summary>
    public IReadOnlyList<string> Summaries
    {
        get
        {
            lock (_lock)
                return [.. _own.Values.GroupBy(c => c.Kind).Select(c => $"{c.Key.Summary} ({c.Count()})")];
        }
    }

    /// <summary>A condition is there. It is reported when it is new, or something else was found.</summary>
    /// <param name="kind">What it is.</param>
    /// <param name="subject">What it is about.</param>
    /// <param name="detail">What was found; no sentence's end.</param>
    /// <param name="remedy">What to do, as a sentence.</param>
    /// <param name="topic">The topic that it is about; empty for none.</param>
    public void Begin(ConditionKind kind, string subject, string detail, string remedy, string topic = "")
    {
        var condition = new ClusterCondition(kind.Name, subject, detail, remedy)
        {
            Topic = topic,
            IsFailure = kind.IsFailure,
        };
        lock (_lock)
        {
            if (_own.TryGetValue(KeyOf(kind, subject), out var known) && known.Condition == condition)
                return;
            _own[KeyOf(kind, subject)] = (kind, condition);
        }
        Events?.OnCondition(condition, isOver: false);
        Changed?.Invoke();
    }

    /// <summary>A condition is over; one that is not there is no mistake.</summary>
    public void End(ConditionKind kind, string subject)
    {
        (ConditionKind, ClusterCondition Condition) over;
        lock (_lock)
        {
            if (!_own.Remove(KeyOf(kind, subject), out over))
                return;
        }
        Events?.OnCondition(over.Condition, isOver: true);
        Changed?.Invoke();
    }

    /// <summary>Another node says which it has; the node's last word counts.</summary>
    public void OnTold(string node, IReadOnlyList<ClusterCondition> conditions)
    {
        lock (_lock)
        {
            if (conditions.Count == 0)
                _others.Remove(node);
            else
                _others[node] = conditions;
        }
    }

    /// <summary>All that are known, by the node that says so.</summary>
    /// <param name="own">This node's name.</param>
    /// <param name="isLive">Whether another node is heard of: what a silent one has said says nothing of now.</param>
    public IReadOnlyList<(string Node, ClusterCondition Condition)> All(string own, Func<string, bool> isLive)
    {
        lock (_lock)
        {
            return
            [
                .. _own
                    .Values.Select(c => (own, c.Condition))
                    .Concat(
                        from other in _others
                        where isLive(other.Key)
                        orderby other.Key
                        from condition in other.Value
                        select (other.Key, condition)
                    ),
            ];
        }
    }

    private static string KeyOf(ConditionKind kind, string subject) => $"{kind.Name} {subject}";
}

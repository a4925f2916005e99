using LightQ.Broker.Cluster;

namespace LightQ.Broker.Topics;

/// <summary>What a leader does about a node that is to follow it.</summary>
internal enum SuccessionAct
{
    /// <summary>Names the node to all, so that it begins to read.</summary>
    Name = 1,

    /// <summary>Waits until it has read enough.</summary>
    Wait,

    /// <summary>Hands the partition over.</summary>
    HandOver,

    /// <summary>Passes the node over.</summary>
    PassOver,
}

/// <summary>The next step towards a handover.</summary>
/// <param name="Act">What to do.</param>
/// <param name="Wait">Within which time to look again, at the latest.</param>
/// <param name="Reason">Why the node is passed over, or gets the partition unprepared; empty when it is ready.</param>
internal readonly record struct SuccessionStep(SuccessionAct Act, TimeSpan Wait = default, string Reason = "");

/// <summary>
/// Decides when a leader hands its partition over: when the node that is to take it has read the stream, but for a few
/// entries, so that producers do not wait for that. For one ownership; one thread at a time.
/// </summary>
internal sealed class Succession(MemberOptions options, TimeProvider time)
{
    private readonly Dictionary<string, long> _passedOver = new(StringComparer.Ordinal);
    private readonly Dictionary<string, long> _refused = new(StringComparer.Ordinal);
    private long _began;
    private long _advanced;
    private long? _left;
    private bool _hasAnswered;

    /// <summary>The node that was named; empty for none.</summary>
    public string To { get; private set; } = "";

    /// <summary>The entries that the node had to read at first; null when it has not said so yet.</summary>
    public long? Left => _left;

    /// <summary>Nobody is to follow at the moment.</summary>
    public void End() => To = "";

    /// <summary>A node that asked for the partition did not get ready. It is not given it for a while.</summary>
    public void Refuse(string node) => _refused[node] = time.GetTimestamp();

    /// <summary>Whether a node that asks for the partition may have it.</summary>
    public bool MayHave(string node) =>
        !_refused.TryGetValue(node, out long at) || time.GetElapsedTime(at) >= options.WantAgain;

    /// <summary>
    /// The node that is to get the partition of one that drains: the first that was not passed over, or else the one
    /// that has least to read.
    /// </summary>
    public string? Choose(IEnumerable<string> candidates)
    {
        string[] all = [.. candidates];
        return all.FirstOrDefault(node => !_passedOver.ContainsKey(node)) ?? all.MinBy(node => _passedOver[node]);
    }

    /// <summary>The next step.</summary>
    /// <param name="now">What is known of the partition.</param>
    /// <param name="to">The node that is to get it.</param>
    /// <param name="candidates">The nodes that would do; null when only that one does.</param>
    /// <param name="isStopping">Whether this node has little time.</param>
    public SuccessionStep Look(
        in Situation now,
        string to,
        IReadOnlyCollection<string>? candidates,
        bool isStopping = false
    )
    {
        if (to != To)
        {
            (To, _left, _hasAnswered) = (to, null, false);
            _began = _advanced = time.GetTimestamp();
            return new SuccessionStep(SuccessionAct.Name);
        }
        Taker said = now.Takers.FirstOrDefault(taker => taker.Node == to);
        _hasAnswered |= said.Node is not null;
        if (said.Stand == PartitionStand.Ready)
            return new SuccessionStep(SuccessionAct.HandOver);
        if (!_hasAnswered)
        {
            TimeSpan silent = options.TakerAnswer - time.GetElapsedTime(_began);
            return silent > TimeSpan.Zero
                ? new SuccessionStep(SuccessionAct.Wait, silent)
                : new SuccessionStep(SuccessionAct.HandOver, Reason: "it does not say that it reads ahead");
        }
        if (said.Stand == PartitionStand.Unable)
            return Fail(to, candidates, "it cannot read the partition's stream");
        if (said.Left is { } left && (_left is null || left < _left))
            (_left, _advanced) = (left, time.GetTimestamp());
        TimeSpan stall = options.TakerStall - time.GetElapsedTime(_advanced);
        if (stall <= TimeSpan.Zero)
            return Fail(to, candidates, $"it got no further for {options.TakerStall.TotalSeconds} s");
        if (candidates is null || candidates.All(node => node == to || _passedOver.ContainsKey(node)))
            return new SuccessionStep(SuccessionAct.Wait, stall); // There is nobody else to ask.
        TimeSpan longest = isStopping ? options.NextTakerAtStop : options.NextTaker;
        TimeSpan next = longest - time.GetElapsedTime(_began);
        if (next > TimeSpan.Zero)
            return new SuccessionStep(SuccessionAct.Wait, next < stall ? next : stall);
        _passedOver[to] = _left ?? long.MaxValue;
        return new SuccessionStep(
            SuccessionAct.PassOver,
            Reason: $"it has {Number(_left)} entries to read after {longest.TotalSeconds} s"
        );
    }

    private static string Number(long? left) =>
        left?.ToString(System.Globalization.CultureInfo.InvariantCulture) ?? "an unknown number of";

    /// <summary>A node that drains gives its partitions away all the same, when no other node is left to ask.</summary>
    private SuccessionStep Fail(string to, IReadOnlyCollection<string>? candidates, string reason)
    {
        bool isLast = candidates?.All(node => node == to || _passedOver.ContainsKey(node)) == true;
        _passedOver[to] = _left ?? long.MaxValue;
        return new SuccessionStep(isLast ? SuccessionAct.HandOver : SuccessionAct.PassOver, Reason: reason);
    }
}

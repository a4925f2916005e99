using System.Globalization;

namespace LightQ.Broker.Cluster;

/// <summary>What the clocks of the other nodes say. Thread-safe.</summary>
/// <remarks>
/// Nodes call each other with tokens that end after a minute. The one that calls says by the other's clock when that
/// is, so that clocks may differ as they like.
/// </remarks>
/// <param name="time">The clock of this node.</param>
/// <param name="conditions">Where it is said that a node's clock differs much from this one's.</param>
internal sealed class MemberClocks(TimeProvider time, ClusterConditions conditions)
{
    /// <summary>Messages are late by less; certificates, tokens and delayed messages suffer from more.</summary>
    private static readonly TimeSpan Much = TimeSpan.FromSeconds(10);

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Heard> _heard = new(StringComparer.Ordinal);

    /// <summary>A node has said its time.</summary>
    public void Note(string node, DateTimeOffset said)
    {
        TimeSpan ahead = said - time.GetUtcNow();
        bool isMuch = ahead.Duration() >= Much;
        bool wasMuch;
        lock (_lock)
        {
            bool isKnown = _heard.TryGetValue(node, out Heard before);
            wasMuch = isKnown && before.IsMuch;
            _heard[node] = new Heard(said, time.GetTimestamp(), isMuch);
        }
        if (isMuch && !wasMuch)
        {
            conditions.Begin(
                ConditionKind.ClockDiffers,
                node,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"its clock is {ahead.Duration().TotalSeconds:0} s {(ahead < TimeSpan.Zero ? "behind" : "ahead")}"
                ),
                "Synchronize the clocks of both machines: times of messages, delays and retention are those of the "
                    + "broker that leads a partition."
            );
        }
        else if (!isMuch && wasMuch)
        {
            conditions.End(ConditionKind.ClockDiffers, node);
        }
    }

    /// <summary>A node is gone.</summary>
    public void Forget(string node)
    {
        lock (_lock)
            _heard.Remove(node);
        conditions.End(ConditionKind.ClockDiffers, node);
    }

    /// <summary>What the clock of a node says now; this node's where the other has not said its own.</summary>
    public DateTimeOffset TimeAt(string node)
    {
        lock (_lock)
        {
            return _heard.TryGetValue(node, out Heard heard)
                ? heard.Said + time.GetElapsedTime(heard.At)
                : time.GetUtcNow();
        }
    }

    private readonly record struct Heard(DateTimeOffset Said, long At, bool IsMuch);
}

using LightQ.Broker.Topics;
using LightQ.Scheduling;

namespace LightQ.Broker.Cluster;

/// <summary>
/// Looks whether this node can serve what it leads: where it cannot, another node is to lead it until it can again.
/// </summary>
/// <remarks>
/// What becomes better for a moment alone is not believed: after each relapse it takes twice as long until the node
/// counts as fit again, so that nothing goes to and fro.
/// </remarks>
/// <param name="members">The node, which says it to the others.</param>
/// <param name="freeBytes">What the disk still takes.</param>
/// <param name="topics">The topics.</param>
/// <param name="catalogFailure">Why the catalog is not read; null when it is.</param>
/// <param name="time">The clock.</param>
internal sealed class NodeFitness(
    ClusterMembers members,
    Func<long> freeBytes,
    Func<IEnumerable<Topic>> topics,
    Func<string?> catalogFailure,
    TimeProvider time
) : IHousekept
{
    /// <summary>With less, hardly anything can be made any more: a journal's first segments need it.</summary>
    private const long FewBytes = 1 << 20;

    private static readonly TimeSpan Poll = TimeSpan.FromSeconds(1),
        LongestPause = TimeSpan.FromMinutes(10);

    private readonly Relapse _disk = new(members.Options.FitAgain, time),
        _catalog = new(members.Options.FitAgain, time);
    private long _wanted;

    /// <inheritdoc/>
    public TimeSpan? Look(DateTimeOffset now)
    {
        members.IsUnfit = IsDiskFull() | IsCatalogUnread();
        return Poll;
    }

    private bool IsDiskFull()
    {
        long free = freeBytes();
        long wanted = topics()
            .Where(static topic => topic.Settings.IsReplicated)
            .SelectMany(static topic => topic.Partitions)
            .Where(static partition => partition.Log.IsLocalFull)
            .Select(static partition => partition.Log.Local!.WantedBytes)
            .DefaultIfEmpty(0)
            .Max();
        if (wanted != 0)
            _wanted = wanted;
        bool isFull = wanted != 0 || free < Math.Max(FewBytes, _wanted);
        if (isFull)
        {
            members.Conditions.Begin(
                ConditionKind.DiskFull,
                members.Node,
                "the disk of its data directory is full",
                "Make room on that disk, or give it more; the node leads again by itself."
            );
        }
        if (_disk.IsStill(isFull))
            return true;
        _wanted = 0;
        members.Conditions.End(ConditionKind.DiskFull, members.Node);
        return false;
    }

    private bool IsCatalogUnread()
    {
        bool isUnread = catalogFailure() is not null;
        if (isUnread)
        {
            members.Conditions.Begin(
                ConditionKind.CatalogUnread,
                members.Node,
                "it cannot read the cluster's catalog",
                "Does it reach the nats-servers, and have these a majority? Its log says more (event 2090)."
            );
        }
        if (_catalog.IsStill(isUnread))
            return true;
        members.Conditions.End(ConditionKind.CatalogUnread, members.Node);
        return false;
    }

    /// <summary>What is bad, and stays so for a while when it has just become better.</summary>
    private sealed class Relapse(TimeSpan shortest, TimeProvider time)
    {
        private bool _isBad;
        private long _seen,
            _ended;
        private TimeSpan _pause;

        public bool IsStill(bool isBad)
        {
            long now = time.GetTimestamp();
            if (isBad)
            {
                if (!_isBad)
                {
                    bool isRelapse = _pause != TimeSpan.Zero && time.GetElapsedTime(_ended, now) < LongestPause;
                    TimeSpan next = isRelapse ? 2 * _pause : shortest;
                    _pause = next < LongestPause ? next : LongestPause;
                }
                (_isBad, _seen) = (true, now);
            }
            else if (_isBad && time.GetElapsedTime(_seen, now) >= _pause)
            {
                (_isBad, _ended) = (false, now);
            }
            return _isBad;
        }
    }
}

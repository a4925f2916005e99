namespace LightQ.Broker.Cluster;

/// <summary>What a node knows of one partition at one moment.</summary>
internal readonly record struct Situation
{
    /// <summary>The node that led it last; empty when that is not known.</summary>
    public required string Leader { get; init; }

    /// <summary>The newest epoch that is known; 0 for none.</summary>
    public required uint Epoch { get; init; }

    /// <summary>One behind the last offset that was confirmed in that epoch, as far as its leader has said.</summary>
    public long End { get; init; }

    /// <summary>Whether <see cref="Leader"/> leads it and is alive.</summary>
    public required bool IsLed { get; init; }

    /// <summary>Whether an operator wished that leader, or the node that it is released to.</summary>
    public required bool IsPinned { get; init; }

    /// <summary>The node that its leader is about to hand it over to; empty for none.</summary>
    public required string NextLeader { get; init; }

    /// <summary>What live nodes say that were asked to take it over.</summary>
    public required IReadOnlyList<Taker> Takers { get; init; }

    /// <summary>The node that it was released to, if that is alive; else empty.</summary>
    public required string ReleasedTo { get; init; }

    /// <summary>How long ago it was released.</summary>
    public required TimeSpan SinceRelease { get; init; }

    /// <summary>Another node that says that it claims the partition, if one does that is alive; else empty.</summary>
    public required string Claimant { get; init; }

    /// <summary>How long it has said so.</summary>
    public required TimeSpan SinceClaim { get; init; }

    /// <summary>
    /// The nodes that may lead it, the one that is placed first in front; behind all others those that cannot serve it.
    /// </summary>
    public required IReadOnlyList<string> Ranking { get; init; }

    /// <summary>How many of <see cref="Ranking"/> can serve it.</summary>
    public required int Fit { get; init; }

    /// <summary>Those of them that have just started, and listen before they claim.</summary>
    public required IReadOnlyList<string> Settling { get; init; }

    /// <summary>Whether the first of <see cref="Ranking"/> asks for it.</summary>
    public required bool IsWanted { get; init; }

    /// <summary>Whether a node may lead it, and cannot serve it, though another one can.</summary>
    public bool IsUnfit(string node) => Fit != 0 && Ranking.Skip(Fit).Contains(node);
}

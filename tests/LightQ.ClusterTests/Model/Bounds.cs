namespace LightQ.ClusterTests.Model;

/// <summary>How far a search goes. Everything within is tried, in every order.</summary>
internal sealed record Bounds
{
    /// <summary>Appends that an owner has under way at most.</summary>
    public required int Window { get; init; }

    /// <summary>Claims behind the one that the stream begins with; refused ones count.</summary>
    public int Claims { get; init; } = 2;

    /// <summary>Batches of the named producer P.</summary>
    public int BatchesOfP { get; init; } = 2;

    /// <summary>Batches of the named producer Q.</summary>
    public int BatchesOfQ { get; init; } = 1;

    /// <summary>Snapshots of all owners together.</summary>
    public int Snapshots { get; init; } = 1;

    /// <summary>Entries that a snapshot takes: 1, or 2 with one producer's state in each.</summary>
    public int Parts { get; init; } = 1;

    /// <summary>
    /// Goes without the shortcuts of <see cref="Machine"/>: every append arrives, in any order, is refused when it
    /// arrives, and every owner hears of it. Many more states, the same findings.
    /// </summary>
    public bool IsLiteral { get; init; }

    public int Batches(int producer) => producer == 0 ? BatchesOfP : BatchesOfQ;
}

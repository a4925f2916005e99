namespace LightQ.Cli.Journals;

/// <summary>What <c>journal verify</c> found.</summary>
/// <param name="Path">What was looked at.</param>
/// <param name="Verdict"><c>clean</c> or <c>damaged</c>.</param>
/// <param name="Journals">The catalog, the groups' positions, and every topic.</param>
/// <param name="MissingTopics">Durable topics of the catalog, or partitions of them, of which nothing is there.</param>
/// <param name="CatalogGone">Whether there are topics or positions of groups, and no catalog.</param>
/// <param name="Cluster">The cluster that the directory belongs to, which has its catalog; absent without one.</param>
/// <param name="Node">The node's name in it.</param>
internal sealed record VerifyView(
    string Path,
    string Verdict,
    IReadOnlyList<JournalView> Journals,
    IReadOnlyList<string> MissingTopics,
    bool CatalogGone,
    string? Cluster = null,
    string? Node = null
);

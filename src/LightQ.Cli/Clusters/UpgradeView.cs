namespace LightQ.Cli.Clusters;

/// <summary>Whether a broker can be stopped now.</summary>
/// <param name="Node">The broker; null for any.</param>
/// <param name="Problems">Why not; none when it can.</param>
/// <param name="Notes">What does not speak against it, and is good to know.</param>
internal sealed record UpgradeView(string? Node, IReadOnlyList<string> Problems, IReadOnlyList<string> Notes);

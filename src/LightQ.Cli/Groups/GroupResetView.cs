namespace LightQ.Cli.Groups;

/// <summary>A group that was reset.</summary>
internal sealed record GroupResetView(string Topic, string Group, IReadOnlyList<long> Offsets);

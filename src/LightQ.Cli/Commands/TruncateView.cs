namespace LightQ.Cli.Commands;

/// <summary>Where a truncated topic begins.</summary>
internal sealed record TruncateView(string Topic, long StartOffset);

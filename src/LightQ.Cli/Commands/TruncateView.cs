namespace LightQ.Cli.Commands;

/// <summary>Where a truncated partition begins.</summary>
internal sealed record TruncateView(string Topic, int Partition, long StartOffset);

namespace LightQ.Cli.Topics;

/// <summary>Where a truncated partition begins.</summary>
internal sealed record TruncateView(string Topic, int Partition, long StartOffset);

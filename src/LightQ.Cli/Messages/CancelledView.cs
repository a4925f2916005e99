namespace LightQ.Cli.Messages;

/// <summary>What became of a delayed message that was to be cancelled.</summary>
internal sealed record CancelledView(int Partition, long Offset, bool Cancelled);

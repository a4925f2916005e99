namespace LightQ.Client.Administration;

/// <summary>How partitions are spread evenly over the brokers of a cluster.</summary>
/// <param name="Moves">What is to move, by topic and number; empty when all is even.</param>
/// <param name="Left">How many have not moved yet: all of a plan, else those that take longer.</param>
public sealed record BalanceResult(IReadOnlyList<PartitionMoveInfo> Moves, int Left);

namespace LightQ.ClusterTests.Faults;

/// <summary>What a load that nothing was wrong with came to.</summary>
/// <param name="Acknowledged">Messages, each of them stored once, in order, and consumed.</param>
/// <param name="Epochs">Claims of all partitions.</param>
/// <param name="Void">Entries of the streams that do not count.</param>
/// <param name="Redelivered">Messages that the group got once more.</param>
internal sealed record Verdict(int Acknowledged, int Epochs, int Void, long Redelivered);

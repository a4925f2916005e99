using LightQ.Protocol.Batches;

namespace LightQ.Broker.Replication;

/// <summary>
/// What a partition remembers beyond its log, named producers and delays above all: rebuilt from snapshot and log at a
/// takeover, saved into snapshots. Every call is made under the partition's append lock.
/// </summary>
internal interface IPartitionState
{
    /// <summary>Takes in what <see cref="Save"/> gave.</summary>
    void Load(ReadOnlySpan<byte> state);

    /// <summary>A batch that was appended by an earlier owner.</summary>
    void OnReplayed(in BatchView batch);

    /// <summary>The state behind everything that was appended.</summary>
    byte[] Save();
}

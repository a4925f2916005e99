namespace LightQ.ClusterTests.Model;

/// <summary>What an entry of the stream is.</summary>
internal enum EntryKind : byte
{
    Claim,
    Data,
    Snapshot,
}

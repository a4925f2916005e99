namespace LightQ.Broker.Replication;

/// <summary>What an entry of a replicated stream holds. All kinds share one chain of sequences.</summary>
public enum EntryKind : byte
{
    /// <summary>A claim: a node becomes the owner of the partition, in a new epoch.</summary>
    Claim = (byte)'c',

    /// <summary>A run of whole batches, stamped with offsets and the owner's epoch.</summary>
    Data = (byte)'d',

    /// <summary>Positions of groups, and what they have settled out of order.</summary>
    Positions = (byte)'g',

    /// <summary>A snapshot of what a new owner need not find out from batches.</summary>
    Snapshot = (byte)'s',
}

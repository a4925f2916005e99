namespace LightQ.ClusterTests.Model;

/// <summary>What a search came to: one that never comes to the hard cases would find nothing for a poor reason.</summary>
[Flags]
internal enum Reached
{
    Nothing = 0,

    /// <summary>A claim was refused, since something was stored after its reading.</summary>
    ClaimRefused = 1,

    /// <summary>A claim was stored while appends of an older owner were under way.</summary>
    ClaimAgainstLiveOwner = 2,

    /// <summary>An entry of an older epoch was stored behind a claim.</summary>
    Intruder = 4,

    /// <summary>An entry of the last claim's epoch was stored with another offset than the next one.</summary>
    HoleInEpoch = 8,

    /// <summary>A snapshot was stored that is void.</summary>
    VoidSnapshot = 16,

    /// <summary>Two parts of a snapshot were to be stored, and the claim came between them.</summary>
    HalfSnapshot = 32,

    /// <summary>A takeover started from a snapshot.</summary>
    FromSnapshot = 64,

    /// <summary>An owner heard that an append is stored after the stream had a newer claim.</summary>
    LateAnswer = 128,

    /// <summary>An append was stored behind a refused one of the same owner: what R2 is for.</summary>
    StoredBehindRefused = 256,

    /// <summary>A batch whose first owner never heard of it was acked by another, as a duplicate.</summary>
    DuplicateAcked = 512,

    /// <summary>Two believed to be the owner.</summary>
    TwoOwners = 1024,

    /// <summary>All batches were acked, behind a claim.</summary>
    AllAcked = 2048,

    /// <summary>A void entry has a batch that is stored validly elsewhere.</summary>
    VoidTwin = 4096,
}

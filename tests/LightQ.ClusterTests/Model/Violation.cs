namespace LightQ.ClusterTests.Model;

/// <summary>What must never be.</summary>
internal enum Violation : byte
{
    None,

    /// <summary>A batch was acked and delivered, and no valid entry has it.</summary>
    Lost,

    /// <summary>Two valid entries have the same batch.</summary>
    Duplicated,

    /// <summary>A valid entry has a batch, and none before it has the one before of the same producer.</summary>
    Reordered,

    /// <summary>The offsets of the valid entries are not 0, 1, 2 and so on.</summary>
    NotDense,

    /// <summary>
    /// A batch was delivered at an offset where the valid entries have another one: consumers before and after a
    /// takeover read different logs.
    /// </summary>
    Diverged,

    /// <summary>An owner's claim is stored, and what it has read is not what lies before the claim.</summary>
    WrongView,
}

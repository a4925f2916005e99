namespace LightQ.ClusterTests.Model;

/// <summary>What can happen next.</summary>
internal enum StepKind : byte
{
    /// <summary>An owner takes the next batch of a producer, stamps it and sends it.</summary>
    SendData,

    /// <summary>An owner sends a snapshot, or the second part of one.</summary>
    SendSnapshot,

    /// <summary>A node reads the stream to its end and sends a claim.</summary>
    SendClaim,

    /// <summary>An append comes to the stream, which stores it and will refuse what expected its place.</summary>
    Arrive,

    /// <summary>The answer to an append comes to its owner.</summary>
    Hear,

    /// <summary>A producer sends to an owner what this one has committed, and hears that it is a duplicate.</summary>
    AckDuplicate,

    /// <summary>Without R1: an owner sends an append again whose answer did not come.</summary>
    SendAgain,
}

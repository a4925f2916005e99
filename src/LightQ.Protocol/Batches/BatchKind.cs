namespace LightQ.Protocol.Batches;

/// <summary>What a batch holds; bits 4 to 6 of its flags.</summary>
public enum BatchKind
{
    /// <summary>Messages.</summary>
    Data = 0,

    /// <summary>A note of the broker to itself; consumers skip it.</summary>
    Control = 1,

    /// <summary>Stands for offsets whose messages are lost.</summary>
    Gap = 2,
}

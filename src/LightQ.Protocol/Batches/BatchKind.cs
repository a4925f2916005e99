namespace LightQ.Protocol.Batches;

/// <summary>What a batch holds; bits 4 to 6 of its flags.</summary>
public enum BatchKind
{
    /// <summary>Messages.</summary>
    Data = 0,

    /// <summary>A note that the broker wrote for itself; consumers skip it.</summary>
    Control = 1,

    /// <summary>Stands in the log for offsets whose messages are lost.</summary>
    Gap = 2,
}

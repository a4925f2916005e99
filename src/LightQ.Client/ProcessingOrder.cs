namespace LightQ.Client;

/// <summary>
/// Which messages a <see cref="LightQProcessor"/> hands out one after the other: each only when the previous one is
/// settled.
/// </summary>
public enum ProcessingOrder
{
    /// <summary>None: any messages run at the same time.</summary>
    None = 0,

    /// <summary>Those of one partition.</summary>
    Partition = 1,

    /// <summary>Those with the same key; messages without a key run at any time.</summary>
    Key = 2,
}

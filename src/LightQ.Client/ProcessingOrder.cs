namespace LightQ.Client;

/// <summary>
/// Which messages a <see cref="LightQProcessor"/> hands out one after the other, each when the one before is settled.
/// </summary>
public enum ProcessingOrder
{
    /// <summary>None: any of them run at the same time.</summary>
    None = 0,

    /// <summary>Those of one partition.</summary>
    Partition = 1,

    /// <summary>Those with the same key; what has no key runs at any time.</summary>
    Key = 2,
}

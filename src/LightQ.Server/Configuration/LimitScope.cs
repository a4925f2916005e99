namespace LightQ.Server.Configuration;

/// <summary>
/// Whose a limit is: what it is counted for, and where all count in together, who gets a share of it. The column of
/// docs/operate/limits.md says the same.
/// </summary>
internal enum LimitScope
{
    /// <summary>Each request, frame or answer.</summary>
    Request,

    /// <summary>Each stream of a connection.</summary>
    Stream,

    /// <summary>Each connection.</summary>
    Connection,

    /// <summary>Each address.</summary>
    Address,

    /// <summary>Each user.</summary>
    User,

    /// <summary>Each address and each user: what they may have of what is shared.</summary>
    Source,

    /// <summary>All together; each address has a share.</summary>
    SharedByAddresses,

    /// <summary>All together; each user has a share.</summary>
    SharedByUsers,

    /// <summary>All together; each address, and each user wherever it comes from, has a share.</summary>
    SharedByAddressesAndUsers,

    /// <summary>A topic; each user has a share.</summary>
    TopicSharedByUsers,

    /// <summary>A partition; each user has a share.</summary>
    PartitionSharedByUsers,

    /// <summary>All together; it takes the right admin to have any of it.</summary>
    Administrators,
}

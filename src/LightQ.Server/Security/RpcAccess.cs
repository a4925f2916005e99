namespace LightQ.Server.Security;

/// <summary>How an <see cref="RpcRule"/> is decided.</summary>
internal enum RpcAccess
{
    /// <summary>Everyone may call it.</summary>
    Open,

    /// <summary>Everyone who has logged in, where that is required.</summary>
    LoggedIn,

    /// <summary>Who has a right on the topic that the request names.</summary>
    Topic,

    /// <summary>Who has any right on the topic that the request names.</summary>
    Sight,

    /// <summary>The same; a request that names no topic is answered with what the caller may see.</summary>
    FilteredSight,

    /// <summary>Who has a right on the topic that the stream's first request names.</summary>
    Stream,

    /// <summary>Who may do everything.</summary>
    Admin,
}

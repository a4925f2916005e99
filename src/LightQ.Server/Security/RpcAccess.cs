namespace LightQ.Server.Security;

/// <summary>How an <see cref="RpcRule"/> is decided.</summary>
internal enum RpcAccess
{
    /// <summary>Everyone may call it.</summary>
    Open,

    /// <summary>Every caller that has logged in, where that is required.</summary>
    LoggedIn,

    /// <summary>A caller with a right on the topic that the request names.</summary>
    Topic,

    /// <summary>A caller with any right on the topic that the request names.</summary>
    Sight,

    /// <summary>The same; a request that names no topic is answered with what the caller may see.</summary>
    FilteredSight,

    /// <summary>A caller with a right on the topic that the stream's first request names.</summary>
    Stream,

    /// <summary>Who may do everything.</summary>
    Admin,

    /// <summary>Another node of the cluster, that has proved to be one.</summary>
    Node,
}

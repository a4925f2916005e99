namespace LightQ.Client;

/// <summary>
/// Whether a client is connected to its broker; in a cluster, to any broker that leads partitions it uses, or that it
/// can learn these from.
/// </summary>
public enum ConnectionState
{
    /// <summary>
    /// Not connected: the client was not used yet, the first attempt failed, or the login is no longer valid.
    /// </summary>
    Disconnected = 0,

    /// <summary>The first attempt is under way.</summary>
    Connecting = 1,

    /// <summary>Connected; producers and subscriptions are being resumed or run.</summary>
    Connected = 2,

    /// <summary>The connection was lost; the client tries again with growing, jittered delays.</summary>
    Reconnecting = 3,

    /// <summary>The client was disposed.</summary>
    Closed = 4,
}

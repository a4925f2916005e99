namespace LightQ.Client;

/// <summary>A change of a client's connection.</summary>
public sealed class ConnectionStateChangedEventArgs : EventArgs
{
    /// <summary>Creates the event's data.</summary>
    /// <param name="state">The state from now on.</param>
    /// <param name="reason">Why the connection was lost or could not be made; null otherwise.</param>
    public ConnectionStateChangedEventArgs(ConnectionState state, LightQException? reason)
    {
        State = state;
        Reason = reason;
    }

    /// <summary>The state from now on.</summary>
    public ConnectionState State { get; }

    /// <summary>Why the connection was lost or could not be made; null otherwise.</summary>
    public LightQException? Reason { get; }

    /// <summary>
    /// The broker that was connected to, or was lost, as <c>host:port</c>; the first of the client's options where
    /// several were tried.
    /// </summary>
    public string? Broker { get; init; }
}

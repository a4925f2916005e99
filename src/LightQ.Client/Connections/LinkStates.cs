namespace LightQ.Client.Connections;

/// <summary>
/// Makes the client's state of those of its connections, and raises its changes one after the other: it is connected
/// while it has a connection to any broker.
/// </summary>
internal sealed class LinkStates(ClientEvents events)
{
    private readonly Lock _gate = new();
    private ConnectionState _home;
    private int _connectedNodes;

    /// <summary>The connection that finds the others has changed.</summary>
    public void OnHome(ConnectionState state, LightQException? reason, LightQClientOptions broker)
    {
        lock (_gate)
        {
            _home = state;
            bool isNews = state switch
            {
                ConnectionState.Reconnecting => _connectedNodes == 0,
                ConnectionState.Connected => events.State != ConnectionState.Connected,
                _ => true,
            };
            if (isNews)
                events.OnState(state, reason, broker);
        }
    }

    /// <summary>An attempt to connect was rejected; another will follow.</summary>
    public void OnRejected(LightQException reason, LightQClientOptions broker)
    {
        lock (_gate)
            events.OnState(events.State, reason, broker);
    }

    /// <summary>There is a connection to a node that leads partitions.</summary>
    public void OnNodeConnected(LightQClientOptions broker)
    {
        lock (_gate)
        {
            _connectedNodes++;
            if (_home == ConnectionState.Reconnecting && _connectedNodes == 1)
                events.OnState(ConnectionState.Connected, null, broker);
        }
    }

    /// <summary>Such a connection is gone.</summary>
    public void OnNodeLost(LightQException reason, LightQClientOptions broker)
    {
        lock (_gate)
        {
            _connectedNodes--;
            if (_home == ConnectionState.Reconnecting && _connectedNodes == 0)
                events.OnState(ConnectionState.Reconnecting, reason, broker);
        }
    }
}

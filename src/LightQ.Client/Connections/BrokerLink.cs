namespace LightQ.Client.Connections;

/// <summary>The streams that belong to the connection to one broker, and that connection while there is one.</summary>
/// <param name="address"><c>host:port</c>; null for the home, whose broker changes.</param>
/// <remarks>
/// Guarded by the gate that the client's links share. Lock order: that gate, then a stream's, then an outbox's.
/// </remarks>
internal sealed class BrokerLink(string? address = null)
{
    private readonly List<ClientStream> _streams = [];

    /// <summary>The connection; null while there is none.</summary>
    public Connection? Current { get; private set; }

    /// <summary>Completes when nothing keeps the link connected any more.</summary>
    public Task Running { get; set; } = Task.CompletedTask;

    /// <summary>The streams that belong to it, as they are now.</summary>
    public ClientStream[] Streams => [.. _streams];

    /// <summary>Whether no stream belongs to it.</summary>
    public bool IsEmpty => _streams.Count == 0;

    /// <summary>Grows with each stream that it gets.</summary>
    public int Uses { get; private set; }

    /// <summary>Whether it is given up because nothing has used it.</summary>
    public bool IsLeft { get; private set; }

    /// <summary>Takes a stream, and opens it now or as soon as there is a connection.</summary>
    public void Add(ClientStream stream)
    {
        Uses++;
        _streams.Add(stream);
        stream.Link = this;
        if (Current is not null)
            stream.Open(Current);
    }

    /// <summary>Forgets a stream.</summary>
    public void Remove(ClientStream stream)
    {
        _streams.Remove(stream);
        stream.Link = null;
    }

    /// <summary>Forgets all streams.</summary>
    /// <returns>These.</returns>
    public ClientStream[] RemoveAll()
    {
        ClientStream[] streams = [.. _streams];
        _streams.Clear();
        foreach (ClientStream stream in streams)
            stream.Link = null;
        return streams;
    }

    /// <summary>Opens every stream on a new connection.</summary>
    public void Begin(Connection connection)
    {
        Current = connection;
        foreach (ClientStream stream in _streams)
            stream.Open(connection);
    }

    /// <summary>The connection is gone, and none of its threads runs any more.</summary>
    public void End(LightQException reason)
    {
        Current = null;
        foreach (ClientStream stream in _streams)
            stream.OnDisconnected(reason);
    }

    /// <summary>Ends the connection because nothing uses it.</summary>
    public void Leave(LightQException reason)
    {
        IsLeft = true;
        Current?.Fail(reason);
    }

    /// <summary>Whether it is connected to this address, or is being connected to it.</summary>
    public bool IsFor(string host, int port) =>
        IsAt(host, port) || string.Equals(address, HostPort.Format(host, port), StringComparison.OrdinalIgnoreCase);

    /// <summary>Whether it is connected to this address.</summary>
    public bool IsAt(string host, int port) =>
        Current?.Broker is { } broker
        && broker.DataPort == port
        && string.Equals(broker.Host, host, StringComparison.OrdinalIgnoreCase);
}

namespace LightQ.Broker.Streams;

/// <summary>The connection that streams belong to, as the engine sees it.</summary>
public interface IStreamOwner
{
    /// <summary>Names the connection in statistics.</summary>
    uint ConnectionId { get; }

    /// <summary>The <see cref="Users.UserNumber"/> of its client; it never changes.</summary>
    uint User => Users.UserNumber.None;

    /// <summary>Whether it is the broker itself, which may publish dead letters.</summary>
    bool IsBroker => false;

    /// <summary>
    /// Whether the connection has ended: what was asked for on it and has waited is dropped. Any thread.
    /// </summary>
    bool HasEnded => false;

    /// <summary>
    /// Says that <paramref name="stream"/> may have something to send. Callable from any thread; returns at once.
    /// </summary>
    void Schedule(OutputStream stream);

    /// <summary>
    /// Says that the broker ends <paramref name="stream"/>, which leaves its topic when the peer has been told: for an
    /// owner whose peer may not read. Any thread; returns at once.
    /// </summary>
    void OnEnding(OutputStream stream) { }
}

namespace LightQ.Server.Messages;

/// <summary>
/// Who has producers or subscriptions over gRPC: to the engine, what a connection is on the data plane.
/// </summary>
/// <param name="connectionId">Names it in statistics, among the connections.</param>
/// <param name="clientName">What the client calls itself.</param>
/// <param name="peer">The client's address and port.</param>
/// <param name="opened">When it was opened.</param>
internal abstract class MessageClient(uint connectionId, string clientName, string peer, DateTimeOffset opened)
{
    /// <summary>Names it in statistics, among the connections.</summary>
    public uint ConnectionId { get; } = connectionId;

    /// <summary>What the client calls itself.</summary>
    public string ClientName { get; } = clientName;

    /// <summary>The client's address and port.</summary>
    public string Peer { get; } = peer;

    /// <summary>When it was opened.</summary>
    public DateTimeOffset Opened { get; } = opened;

    /// <summary>Open producer streams.</summary>
    public abstract int Producers { get; }

    /// <summary>Open subscriptions.</summary>
    public abstract int Subscriptions { get; }

    /// <summary>Whether the client hears of a stop, so that it is worth while to wait for it.</summary>
    public virtual bool CanBeTold => true;

    /// <summary>
    /// What is under way: producers that wait for acks, and messages that members of groups hold. Any thread.
    /// </summary>
    public abstract (int BusyProducers, long Held) CountUnderWay();

    /// <summary>The broker is about to stop: it ends by itself, after at most so long.</summary>
    public abstract void BeginStop(TimeSpan timeLeft);

    /// <summary>Somebody may do more or less than before: ends what may not go on. Any thread.</summary>
    public abstract void Review();

    /// <summary>The time is over: it ends now.</summary>
    public abstract void EndStop();
}

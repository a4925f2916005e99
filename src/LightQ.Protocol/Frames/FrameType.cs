namespace LightQ.Protocol.Frames;

/// <summary>What a frame is; the fifth byte of its header.</summary>
public enum FrameType : byte
{
    /// <summary>Client: opens the connection.</summary>
    Hello = 1,

    /// <summary>Server: accepts the connection.</summary>
    Welcome = 2,

    /// <summary>Client: opens a producer stream.</summary>
    OpenProducer = 3,

    /// <summary>Server: the producer stream is open.</summary>
    ProducerOpened = 4,

    /// <summary>Client: a run of batches.</summary>
    Publish = 5,

    /// <summary>Server: what was stored, and how safely.</summary>
    PublishAck = 6,

    /// <summary>Client: opens a subscription.</summary>
    Subscribe = 7,

    /// <summary>Server: the subscription is open.</summary>
    Subscribed = 8,

    /// <summary>Server: a run of batches.</summary>
    Deliver = 9,

    /// <summary>Both: bytes granted to a subscription, or given back to a producer.</summary>
    Credit = 10,

    /// <summary>Client: what became of delivered messages.</summary>
    Settle = 11,

    /// <summary>Server: offsets that will not come.</summary>
    Gap = 12,

    /// <summary>Both: ends a stream.</summary>
    Close = 13,

    /// <summary>Both: a stream has ended; also the answer to a refused OpenProducer or Subscribe.</summary>
    Closed = 14,

    /// <summary>Both: asks for a Pong.</summary>
    Ping = 15,

    /// <summary>Both: answers a Ping with its bytes.</summary>
    Pong = 16,

    /// <summary>Server: the reason the connection closes.</summary>
    Error = 17,

    /// <summary>Server: finish and reconnect elsewhere.</summary>
    GoAway = 18,

    /// <summary>Server: a range of one batch for a group with explicit settlement.</summary>
    GroupDeliver = 19,

    /// <summary>Server: the results of settlements.</summary>
    Settled = 20,
}

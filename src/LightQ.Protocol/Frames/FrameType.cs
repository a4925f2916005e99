namespace LightQ.Protocol.Frames;

/// <summary>What a frame is; the fifth byte of its header.</summary>
public enum FrameType : byte
{
    /// <summary>From the client: opens the connection.</summary>
    Hello = 1,

    /// <summary>From the server: accepts the connection.</summary>
    Welcome = 2,

    /// <summary>From the client: opens a producer stream.</summary>
    OpenProducer = 3,

    /// <summary>From the server: the producer stream is open.</summary>
    ProducerOpened = 4,

    /// <summary>From the client: a run of batches.</summary>
    Publish = 5,

    /// <summary>From the server: what was stored, and how safely.</summary>
    PublishAck = 6,

    /// <summary>From the client: opens a subscription.</summary>
    Subscribe = 7,

    /// <summary>From the server: the subscription is open.</summary>
    Subscribed = 8,

    /// <summary>From the server: a run of batches.</summary>
    Deliver = 9,

    /// <summary>From both sides: bytes granted to a subscription, or given back to a producer.</summary>
    Credit = 10,

    /// <summary>From the client: settles delivered messages.</summary>
    Settle = 11,

    /// <summary>From the server: offsets that are not delivered.</summary>
    Gap = 12,

    /// <summary>From both sides: ends a stream.</summary>
    Close = 13,

    /// <summary>From both sides: a stream has ended. Also the answer to a rejected OpenProducer or Subscribe.</summary>
    Closed = 14,

    /// <summary>From both sides: asks for a Pong.</summary>
    Ping = 15,

    /// <summary>From both sides: answers a Ping with its bytes.</summary>
    Pong = 16,

    /// <summary>From the server: the reason why the connection closes.</summary>
    Error = 17,

    /// <summary>From the server: finish and reconnect elsewhere.</summary>
    GoAway = 18,

    /// <summary>From the server: a range of one batch for a group with explicit settlement.</summary>
    GroupDeliver = 19,

    /// <summary>From the server: the results of settlements.</summary>
    Settled = 20,

    /// <summary>From the client: how much a member of a group takes, and works on at a time, from now on.</summary>
    Window = 21,
}

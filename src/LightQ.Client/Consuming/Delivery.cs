using LightQ.Client.Connections;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>
/// What waits in a consumer's queue: a run of batches (<see cref="Block"/>), a gap, or where a log begins and ends.
/// </summary>
internal readonly struct Delivery
{
    private readonly object _content;

    public Delivery(Subscription source, ReceiveBlock block, int offset, int length, bool isFirstOfBlock)
    {
        Source = source;
        IsFirstOfBlock = isFirstOfBlock;
        _content = block;
        Offset = offset;
        Length = length;
    }

    public Delivery(Subscription source, MessageGap gap) => (Source, _content) = (source, gap);

    public Delivery(Subscription source, SubscriptionStarted started) => (Source, _content) = (source, started);

    /// <summary>The subscription it came on, of one partition.</summary>
    public Subscription Source { get; }

    public ReceiveBlock? Block => _content as ReceiveBlock;

    public MessageGap? Gap => _content as MessageGap;

    /// <summary>
    /// What the broker has said as it subscribed; it comes only where the reader is to say that it has caught up.
    /// </summary>
    public SubscriptionStarted? Started => _content as SubscriptionStarted;

    /// <summary>Whether the run before it lies in another block.</summary>
    public bool IsFirstOfBlock { get; }

    /// <summary>Settles its messages; null when they are not settled by the consumer.</summary>
    public Settlements? Settlements { get; init; }

    /// <summary>
    /// In a group with explicit settlement: which of its batch's messages were delivered, and their lock. Else its
    /// count is 0.
    /// </summary>
    public GroupDelivery Range { get; init; }

    /// <summary>When the lock expires, by the client's clock, in ticks of UTC.</summary>
    public long LockedUntil { get; init; }

    /// <summary>The lock of its messages; null without.</summary>
    public HeldLock? Held { get; init; }

    /// <summary>Whether the batch is the one of the delivery before, which has paid for it.</summary>
    public bool IsSameBatch { get; init; }

    /// <summary>Whether its batch was in no delivery that the reader has looked at.</summary>
    public bool IsUnread { get; init; }

    /// <summary>Bytes of the subscription's credit that it took.</summary>
    public int CreditBytes => IsSameBatch ? 0 : Length;

    public int Offset { get; }

    public int Length { get; }
}

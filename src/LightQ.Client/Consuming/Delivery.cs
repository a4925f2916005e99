using LightQ.Client.Connections;

namespace LightQ.Client.Consuming;

/// <summary>What waits in a subscription's queue: a run of batches (<see cref="Block"/>) or a gap.</summary>
internal readonly struct Delivery
{
    private readonly object _source;

    public Delivery(ReceiveBlock block, int offset, int length, bool isFirstOfBlock)
    {
        IsFirstOfBlock = isFirstOfBlock;
        _source = block;
        Offset = offset;
        Length = length;
    }

    public Delivery(MessageGap gap) => _source = gap;

    public ReceiveBlock? Block => _source as ReceiveBlock;

    public MessageGap? Gap => _source as MessageGap;

    /// <summary>Whether the run before it lies in another block.</summary>
    public bool IsFirstOfBlock { get; }

    /// <summary>Where to say what became of its messages; null when nobody wants to know.</summary>
    public Settlements? Settlements { get; init; }

    public int Offset { get; }

    public int Length { get; }
}

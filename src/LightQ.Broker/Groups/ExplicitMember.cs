using LightQ.Broker.Logs;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Groups;

/// <summary>A member that settles its messages itself, within the time for which they are its own.</summary>
/// <remarks>Its leases are guarded by the group's gate.</remarks>
internal sealed class ExplicitMember : GroupMember
{
    /// <summary>
    /// Most deliveries one member holds, however small; the oldest must be settled before it gets more.
    /// </summary>
    private const int MostLeases = 64 * 1024;

    /// <summary>
    /// So many deliveries whose lock ran out are remembered, to be told apart from such as never were.
    /// </summary>
    private const int ExpiredKept = 4096;

    private readonly ExplicitGroup _group;
    private readonly Dictionary<uint, Lease> _byId = [];
    private readonly LeaseList _leases = new();
    private readonly HashSet<uint> _expired = [];
    private readonly Queue<uint> _expiredInOrder = new();
    private GroupDelivery _taken;
    private bool _waitsForRoom;
    private uint _lastId;

    public ExplicitMember(
        IStreamOwner owner,
        uint id,
        Partition partition,
        ExplicitGroup group,
        in SubscribeFrame request
    )
        : base(owner, id, partition, group)
    {
        _group = group;
        (MaxInFlight, AtATime) = (request.MaxInFlight, request.AtATime);
        LockMicroseconds = request.LockMilliseconds * 1000L;
        Hand.Add(this);
        group.Join(this, request.Start, request.StartValue);
        FirstOffset = group.NextOffset;
    }

    /// <summary>How many messages it may hold; 0 for no limit.</summary>
    public uint MaxInFlight { get; private set; }

    /// <summary>How many messages it works on at once; 0 for one that does not say what it has begun.</summary>
    public uint AtATime { get; private set; }

    /// <summary>
    /// Whether it says which messages it has begun: a delivery that it has not begun does not count when it is lost.
    /// </summary>
    public bool SaysWhatIsBegun => AtATime != 0;

    /// <summary>Whether it asks for more beside a message that it has alone: else that ends by itself.</summary>
    public bool AsksForMore => AtATime is not (0 or SubscribeFrame.AllAtATime);

    /// <summary>What it shares with the other subscriptions of its consumer.</summary>
    public ConsumerHand Hand { get; private set; } = new();

    /// <summary>How long its locks last, as it asked for; 0 for as long as the topic says.</summary>
    public long LockMicroseconds { get; }

    /// <summary>Messages it holds.</summary>
    public int InFlight { get; private set; }

    /// <inheritdoc/>
    public override int Held => InFlight;

    /// <inheritdoc/>
    public override bool IsReading { get; private protected set; }

    /// <summary>How many more it may hold.</summary>
    /// <remarks>
    /// A full member that says how many it works on gets more when half of what waits behind them is worked off: a
    /// delivery for each settlement would be as many deliveries as messages.
    /// </remarks>
    public int Room => _byId.Count >= MostLeases || _waitsForRoom ? 0 : Math.Min(MostMessages, Most - InFlight);

    private int Most => MaxInFlight is 0 or > int.MaxValue ? int.MaxValue : (int)MaxInFlight;

    private bool HasHalfOfItsRoom => AtATime == 0 || InFlight <= AtATime + Math.Max(0, (Most - AtATime) / 2);

    /// <summary>Of its leases, the one whose lock runs out first.</summary>
    public Lease? FirstLease => _leases.First;

    /// <summary>
    /// The batch last sent on the subscription, which need not be sent again: first offset, and one behind its last.
    /// </summary>
    public (long First, long End) LastBatch { get; set; }

    /// <summary>Durable topics keep messages that are not read: no producer waits for a member.</summary>
    private protected override bool Blocks => false;

    private protected override GroupDelivery TakenRange => _taken;

    /// <inheritdoc/>
    public override SettleOutcome Settle(in SettleRange range, ReadOnlySpan<byte> reasonUtf8) =>
        _group.Settle(this, range, reasonUtf8);

    /// <inheritdoc/>
    public override bool TryResize(in WindowFrame window)
    {
        _group.Resize(this, window);
        Schedule(); // There may be room for more.
        return true;
    }

    /// <inheritdoc/>
    public override void HandBack(in SettleRange range) => _group.HandBack(this, range);

    /// <inheritdoc/>
    public override void ForgetLastBatch() => LastBatch = default;

    /// <summary>
    /// Sets how much it takes, and works on at once. One that is no other asks for more beside a message that it has
    /// alone.
    /// </summary>
    public void Set(in WindowFrame window)
    {
        if ((MaxInFlight, AtATime) == (window.MaxInFlight, window.AtATime))
            Hand.Join();
        (MaxInFlight, AtATime) = (window.MaxInFlight, window.AtATime);
        _waitsForRoom = InFlight >= Most && !HasHalfOfItsRoom;
    }

    /// <summary>It is one of a consumer's subscriptions. Before it is given anything.</summary>
    public void Share(ConsumerHand hand)
    {
        Hand = hand;
        hand.Add(this);
    }

    /// <summary>The number of its next delivery.</summary>
    public uint NextId() => ++_lastId == 0 ? ++_lastId : _lastId;

    public void Add(Lease lease)
    {
        _byId.Add(lease.Id, lease);
        _leases.Add(lease);
        InFlight += lease.Open;
        _waitsForRoom = InFlight >= Most && !HasHalfOfItsRoom;
    }

    public bool TryFind(uint id, out Lease lease) => _byId.TryGetValue(id, out lease!);

    /// <summary>Moves the end of a lock.</summary>
    public void Renew(Lease lease, long deadline)
    {
        _leases.Remove(lease);
        lease.Deadline = deadline;
        _leases.Add(lease);
    }

    /// <summary>Some messages of a lease are settled.</summary>
    public void Closed(Lease lease, uint count)
    {
        InFlight -= (int)count;
        _waitsForRoom &= !HasHalfOfItsRoom;
        if (lease.Open == 0)
            Remove(lease);
        else
            Hand.OnFreed(lease, hasEnded: false);
    }

    /// <summary>Takes a lease away, with what is open of it.</summary>
    public void Remove(Lease lease)
    {
        InFlight -= lease.Open;
        _waitsForRoom &= !HasHalfOfItsRoom;
        _byId.Remove(lease.Id);
        _leases.Remove(lease);
        Hand.OnFreed(lease, hasEnded: true);
    }

    /// <summary>The lock of a lease ran out.</summary>
    public void Expire(Lease lease)
    {
        Remove(lease);
        if (_expiredInOrder.Count == ExpiredKept)
            _expired.Remove(_expiredInOrder.Dequeue());
        _expired.Add(lease.Id);
        _expiredInOrder.Enqueue(lease.Id);
    }

    /// <summary>Whether the lock of a delivery is known to have run out.</summary>
    public bool HasExpired(uint id) => _expired.Contains(id);

    private protected override void OnRevoked()
    {
        if (!IsReading)
            return;
        IsReading = false;
        _group.Pause(this);
    }

    private protected override ReadResult Read(out LentRun run, out LogGap gap)
    {
        ReadResult result = _group.Take(this, out run, out gap, out _taken);
        IsReading = result == ReadResult.Pending;
        return result;
    }

    private protected override void Advance(in LentRun run)
    {
        if (!run.Memory.IsEmpty)
            _group.Sent(this);
    }
}

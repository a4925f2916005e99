using System.Globalization;
using LightQ.Broker.Logs;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Subscriptions;

/// <summary>A subscription: what one connection is sent of one partition, within the credit it has granted.</summary>
/// <remarks>
/// <see cref="TryTake"/> and <see cref="Sent"/> belong to the connection's output turn; credit and waking come from any
/// thread.
/// </remarks>
public abstract class Subscription : OutputStream
{
    private readonly Partition _partition;
    private long _credit;
    private long _drops;
    private long _stoodStillSince;
    private long _lastSeen = -1;

    private protected Subscription(IStreamOwner owner, uint id, Partition partition)
        : base(owner, id) => _partition = partition;

    /// <summary>The partition.</summary>
    public Partition Partition => _partition;

    /// <summary>
    /// Which consumer of its connection it belongs to, one subscription a partition; 0 for one that is a consumer by
    /// itself.
    /// </summary>
    public uint Member { get; internal init; }

    /// <summary>The group, or empty.</summary>
    public virtual string GroupName => "";

    /// <summary>The next offset to be sent.</summary>
    public abstract long NextOffset { get; }

    /// <summary>The first offset that the client wants: an earlier one of the same batch it must skip itself.</summary>
    public long FirstOffset { get; private protected set; }

    /// <summary>Bytes that may be sent; below zero after a batch longer than what was left.</summary>
    public long Credit => Volatile.Read(ref _credit);

    /// <summary>What happens when it is slower than a transient topic.</summary>
    public virtual SlowPolicy SlowPolicy => SlowPolicy.Block;

    /// <summary>
    /// After how long of standing still while producers wait it is ended; zero for the broker's default.
    /// </summary>
    public TimeSpan SlowTimeout { get; internal set; }

    /// <summary>
    /// How many messages the next take may give a member that settles them itself; others are given whole batches. No
    /// limit by default.
    /// </summary>
    public int MostMessages { get; set; } = int.MaxValue;

    /// <summary>Messages that it holds as a member of a group that settles, and has not settled.</summary>
    public virtual int Held => 0;

    /// <summary>
    /// Whether the last take found messages that are being read from the disk; it is scheduled when they are there.
    /// Only known of members of a group that settle.
    /// </summary>
    public virtual bool IsReading
    {
        get => false;
        private protected set => throw new NotSupportedException();
    }

    /// <summary>Messages it has lost by its policy.</summary>
    public long Drops => Volatile.Read(ref _drops);

    /// <summary>Bytes of its backlog that are kept outside the ring, in memory or on the disk.</summary>
    public virtual long KeptBytes => 0;

    /// <summary>Whether producers of a transient topic wait for this subscription.</summary>
    private protected abstract bool Blocks { get; }

    /// <summary>
    /// With explicit settlement in a group: which messages of the run, a single batch, were taken, and how they are
    /// locked.
    /// </summary>
    private protected virtual GroupDelivery TakenRange => default;

    /// <summary>
    /// Whether the subscription, at the end of a log that takes nothing more, has nothing to wait for.
    /// </summary>
    private protected virtual bool HasEverything => true;

    /// <summary>Adds credit.</summary>
    public void Grant(uint bytes)
    {
        Interlocked.Add(ref _credit, bytes);
        Schedule();
    }

    /// <summary>Takes back what is left of the credit. Belongs to the output turn.</summary>
    public void Revoke()
    {
        if (Credit is > 0 and var left)
            Interlocked.Add(ref _credit, -left);
        OnRevoked();
    }

    /// <summary>
    /// The batch last sent is not kept: the next delivery out of it brings it again. Belongs to the output turn.
    /// </summary>
    public virtual void ForgetLastBatch() { }

    /// <summary>Takes what is to be sent next.</summary>
    public DeliveryResult TryTake(out Delivery delivery)
    {
        delivery = default;
        if (Credit <= 0)
            return DeliveryResult.Nothing;
        string? failure = _partition.Failure; // Before the read: after a failure it finds all that there will ever be.
        switch (Read(out LentRun run, out LogGap gap))
        {
            case ReadResult.Run:
                Interlocked.Add(ref _credit, -run.Memory.Length);
                delivery = new Delivery(run, default, TakenRange);
                return DeliveryResult.Run;
            case ReadResult.Gap:
                long dropped = gap.Reason == GapReason.Dropped ? gap.LastOffset - gap.FirstOffset + 1 : 0;
                _partition.Counters.Gap(dropped);
                Volatile.Write(ref _drops, _drops + dropped);
                delivery = new Delivery(default, gap, default);
                return DeliveryResult.Gap;
            case ReadResult.Failed:
                RequestClose(
                    new StreamClose(
                        ErrorCode.Internal,
                        $"the journal of '{_partition.Topic.Name}' cannot be read at offset {NextOffset}"
                    )
                );
                return DeliveryResult.Nothing;
            case ReadResult.AtEnd when failure is not null && HasEverything:
                RequestClose(
                    new StreamClose(
                        ErrorCode.TopicFailed,
                        $"everything that '{_partition.Topic.Name}' holds was delivered, and it takes nothing more "
                            + $"until the broker is started again: {failure}"
                    )
                );
                return DeliveryResult.Nothing;
            default:
                return DeliveryResult.Nothing;
        }
    }

    /// <summary>The run that was taken is in the socket; its memory is no longer used.</summary>
    public void Sent(in LentRun run)
    {
        _partition.Counters.Sent(run.Messages, run.Memory.Length);
        Advance(run);
        if (Blocks)
            _partition.RoomMade();
    }

    /// <summary>Takes what the client says of messages it was sent.</summary>
    /// <param name="range">The messages, and what became of them.</param>
    /// <param name="reasonUtf8">Why, when they are dead-lettered.</param>
    public virtual SettleOutcome Settle(in SettleRange range, ReadOnlySpan<byte> reasonUtf8) => SettleOutcome.Unknown;

    /// <summary>Takes how much a member of a group that settles wants, from now on.</summary>
    /// <returns>False for every other subscription, which has no such window.</returns>
    public virtual bool TryResize(in WindowFrame window) => false;

    /// <summary>
    /// Returns messages that were taken and not shown to the application: a group delivers them again at once, as if it
    /// had not.
    /// </summary>
    /// <param name="range">The messages; its kind does not matter. Those that are not held any more stay as they
    /// are.</param>
    public virtual void HandBack(in SettleRange range) { }

    /// <summary>New data may be readable.</summary>
    internal void OnPublished()
    {
        if (Credit > 0)
            Schedule();
    }

    /// <summary>Ends the subscription when it has not moved for its time-out while producers wait for it.</summary>
    internal void CheckProgress(TimeProvider time, long now, bool producersWait, TimeSpan defaultTimeout)
    {
        long next = NextOffset;
        TimeSpan timeout = SlowTimeout > TimeSpan.Zero ? SlowTimeout : defaultTimeout;
        if (!Blocks || !producersWait || next != _lastSeen || next >= _partition.Log.EndOffset)
        {
            _lastSeen = next;
            _stoodStillSince = now;
        }
        else if (time.GetElapsedTime(_stoodStillSince, now) >= timeout)
        {
            RequestClose(
                new StreamClose(
                    ErrorCode.SlowConsumer,
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"the subscriber took nothing for {timeout.TotalSeconds} s while producers waited; messages "
                            + $"{next} to {_partition.Log.EndOffset - 1} were not sent"
                    )
                )
            );
        }
    }

    /// <summary>Nothing is taken until there is credit again.</summary>
    private protected virtual void OnRevoked() { }

    private protected abstract ReadResult Read(out LentRun run, out LogGap gap);

    private protected abstract void Advance(in LentRun run);
}

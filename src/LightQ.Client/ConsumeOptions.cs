using LightQ.Protocol;

namespace LightQ.Client;

/// <summary>How a subscription consumes. Immutable; a value outside its range throws when it is set.</summary>
public sealed record ConsumeOptions
{
    private const int SmallestCredit = 1024;

    /// <summary>
    /// The group whose members share the messages; null (the default) for a subscription that gets all of them.
    /// </summary>
    public string? Group
    {
        get;
        init =>
            field =
                value is null || TopicName.IsValid(value)
                    ? value
                    : throw new ArgumentException($"A group's name has {TopicName.Rule}.", nameof(value));
    }

    /// <summary>
    /// Where to begin. Default: <see cref="StartPosition.Latest"/>; with a group <see cref="StartPosition.Committed"/>.
    /// </summary>
    public StartPosition Start { get; init; }

    /// <summary>
    /// The last message that was seen of each partition, by <see cref="Message.Position"/>: reading goes on behind it.
    /// A partition that is not among these begins at <see cref="Start"/>. This is how a reader that keeps its place in
    /// its own store comes back to it, one position for each partition. Without a group only. Default: none. Where the
    /// log ends before the position, since its topic was made anew or restored, what was seen is a
    /// <see cref="GapReason.Truncated"/> gap, and reading begins at the end of the log.
    /// </summary>
    public IReadOnlyCollection<MessagePosition> StartAfter
    {
        get;
        init
        {
            ArgumentNullException.ThrowIfNull(value);
            MessagePosition[] positions = [.. value];
            if (positions.DistinctBy(static p => p.Partition).Count() != positions.Length)
                throw new ArgumentException("A partition is there twice.", nameof(value));
            if (positions.Any(static p => p.Partition < 0 || p.Offset < 0))
                throw new ArgumentException("A position has a number below 0.", nameof(value));
            field = positions;
        }
    } = [];

    /// <summary>
    /// The partition to read; null (the default) for all of them, or for the one that the topic's address names
    /// (<c>orders/3</c>). All partitions come in one enumeration: in order within a partition, and between partitions
    /// as they arrive.
    /// </summary>
    public int? Partition
    {
        get;
        init
        {
            if (value is { } partition)
                ArgumentOutOfRangeException.ThrowIfNegative(partition, nameof(value));
            field = value;
        }
    }

    /// <summary>
    /// How many bytes the broker may deliver ahead of the consumer. This is about the most memory that the consumer
    /// uses. 1 KiB to 1 GiB, default 4 MiB. A small value costs throughput. The bytes are split evenly over the
    /// partitions, at least 16 KiB each; each may exceed its share by one run of up to 256 KiB.
    /// </summary>
    public int CreditBytes
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, SmallestCredit);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, 1 << 30);
            field = value;
        }
    } = ProtocolLimits.DefaultCreditBytes;

    /// <summary>
    /// What happens when this subscriber is slower than a transient topic. Default: the topic's policy. A member of a
    /// group always makes producers wait (<see cref="SlowPolicy.Block"/>); any other policy is
    /// <see cref="ErrorCode.NotSupported"/> there. When the policy ends the subscription, the enumeration ends with
    /// <see cref="ErrorCode.SlowConsumer"/>, and the error message says what was not sent.
    /// </summary>
    public SlowPolicy SlowPolicy
    {
        get;
        init =>
            field = Enum.IsDefined(value)
                ? value
                : throw new ArgumentOutOfRangeException(
                    nameof(value),
                    value,
                    $"one of {string.Join(", ", Enum.GetNames<SlowPolicy>())}"
                );
    }

    /// <summary>
    /// How long this subscriber may take nothing under <see cref="SlowPolicy.Block"/> while producers wait for it,
    /// before it is ended: 500 ms to 24 h; null (the default) for the broker's default, 10 s. The broker checks twice a
    /// second.
    /// </summary>
    public TimeSpan? SlowTimeout
    {
        get;
        init
        {
            if (value is { } timeout)
            {
                ArgumentOutOfRangeException.ThrowIfLessThan(
                    timeout,
                    TimeSpan.FromMilliseconds(ProtocolLimits.MinSlowTimeoutMilliseconds),
                    nameof(value)
                );
                ArgumentOutOfRangeException.ThrowIfGreaterThan(
                    timeout,
                    TimeSpan.FromMilliseconds(ProtocolLimits.MaxSlowTimeoutMilliseconds),
                    nameof(value)
                );
            }
            field = value;
        }
    }

    /// <summary>
    /// Whether the broker or the consumer settles messages. By default the broker settles a message once it has sent
    /// it. Each message is then delivered at most once. When a member of a group dies, what it had received and not
    /// worked on yet is lost for the group. With <see cref="SettleMode.Explicit"/> the consumer settles. In a group, on
    /// a durable topic, every message is then locked for one member, for the topic's lock duration. The lock ends when
    /// the member completes, abandons or dead-letters the message, when it loses its connection, or when the lock
    /// expires. A message that was neither completed nor dead-lettered is redelivered, so each message is delivered at
    /// least once. Without a group, completing a message is a receipt that the broker counts; a message without a
    /// receipt is not redelivered.
    /// </summary>
    public SettleMode SettleMode { get; init; }

    /// <summary>
    /// Which messages are wanted, by their headers; null (the default) for all. The broker delivers all messages, and
    /// the client skips the others: with explicit settlement it completes them.
    /// </summary>
    public MessageFilter? Filter { get; init; }

    /// <summary>
    /// In a group with <see cref="SettleMode.Explicit"/>: how many unsettled messages this member may hold at most, on
    /// each partition. Default 0: no limit but its credit. It holds about what it works off in a tenth of a second, so
    /// a limit is seldom needed.
    /// </summary>
    public int MaxInFlight
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            field = value;
        }
    }

    /// <summary>
    /// In a group with <see cref="SettleMode.Explicit"/>: how long a message is locked for this member, 1 s to 12 h;
    /// null (the default) for the topic's lock duration. Set it for a group whose work takes longer. A renewed lock
    /// lasts as long.
    /// </summary>
    public TimeSpan? LockDuration
    {
        get;
        init => field = CheckLockDuration(value);
    }

    /// <summary>
    /// In a group with <see cref="SettleMode.Explicit"/>: for how long the client renews the lock of what the
    /// application has in its hands, counted from when it got it: what a loop or a fetch has given it and it has not
    /// settled, whatever it has got since. 0 to 24 h, default 5 min; 0 never renews it. After that the lock expires,
    /// and the message is redelivered. The limit protects against work that hangs. Messages that wait in the client
    /// need no limit: their locks are renewed while the loop goes on.
    /// </summary>
    public TimeSpan MaxLockRenewal
    {
        get;
        init =>
            field =
                value >= TimeSpan.Zero && value <= TimeSpan.FromDays(1)
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(value), value, "The time is 0 to 24 h.");
    } = TimeSpan.FromMinutes(5);

    /// <summary>
    /// Whether the checksum of every batch is verified. Default: true. A batch that fails is reported as a gap.
    /// </summary>
    public bool VerifyChecksums { get; init; } = true;

    /// <summary>
    /// Most bytes that the messages of one compressed batch may take when they are inflated, 64 KiB to 16 MiB, which is
    /// the default. A batch whose header states more is reported as a gap (corrupt), and no memory is reserved for it.
    /// </summary>
    public int MaxInflatedBytes
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, 64 * 1024);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, ProtocolLimits.InflatedBatchBytes);
            field = value;
        }
    } = ProtocolLimits.InflatedBatchBytes;

    /// <summary>Where a waiting <c>await foreach</c> continues. Default: on the thread pool.</summary>
    public ContinuationScheduling Scheduling { get; init; }

    /// <summary>What to do when messages are missing, after the gap was reported. Default: go on after it.</summary>
    public GapAction GapAction { get; init; }

    /// <summary>
    /// Called in order, between the messages before and after the gap, on the thread that enumerates.
    /// </summary>
    public Action<MessageGap>? OnGap { get; init; }

    /// <summary>
    /// Called when the subscription is open, for each partition, and again whenever it is resumed. Called on the
    /// receiving thread: the callback must not block. To wait for a subscription before publishing, complete a
    /// <see cref="TaskCompletionSource"/> here.
    /// </summary>
    public Action<SubscriptionStarted>? OnSubscribed { get; init; }

    /// <summary>
    /// Called once, when all that the topic held when it was subscribed to has been handed out and the application asks
    /// for more: a projection is up to date, and may be served. What it passes over (delayed, expired, filtered or lost
    /// messages) counts, so it is called for a topic of which nothing comes, too. Called on the thread that enumerates.
    /// Without a group only: a member sees a part of the messages.
    /// </summary>
    public Action? OnCaughtUp { get; init; }

    /// <summary>Where a partition is begun.</summary>
    internal StartPosition StartOf(int partition)
    {
        foreach (MessagePosition seen in StartAfter)
        {
            if (seen.Partition == partition)
                return StartPosition.Offset(seen.Offset == long.MaxValue ? seen.Offset : seen.Offset + 1);
        }
        return Start;
    }

    /// <summary>Whether a partition is begun behind a message that was seen.</summary>
    internal bool IsAfter(int partition) => StartAfter.Any(seen => seen.Partition == partition);

    /// <exception cref="ArgumentException">What is of a reader alone is set for a member of a group.</exception>
    internal void CheckReader()
    {
        if (Group is not null && OnCaughtUp is not null)
            throw new ArgumentException($"{nameof(OnCaughtUp)} is for readers without a group.");
        if (Group is not null && StartAfter.Count != 0)
            throw new ArgumentException($"{nameof(StartAfter)} is for readers without a group, which has its place.");
    }

    /// <exception cref="ArgumentOutOfRangeException">The lock is too short or too long.</exception>
    internal static TimeSpan? CheckLockDuration(TimeSpan? value)
    {
        if (value is { } duration)
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(
                duration,
                TimeSpan.FromMilliseconds(ProtocolLimits.MinLockMilliseconds),
                nameof(value)
            );
            ArgumentOutOfRangeException.ThrowIfGreaterThan(
                duration,
                TimeSpan.FromMilliseconds(ProtocolLimits.MaxLockMilliseconds),
                nameof(value)
            );
        }
        return value;
    }
}

using LightQ.Broker.Replication;
using LightQ.Storage;

namespace LightQ.Broker;

/// <summary>What the engine can be told.</summary>
public sealed record BrokerOptions
{
    /// <summary>Publish window of a producer stream in bytes. Default 1 MiB.</summary>
    public int PublishWindowBytes
    {
        get;
        init =>
            field = value is >= 64 * 1024 and <= 64 * 1024 * 1024
                ? value
                : throw new ArgumentOutOfRangeException(nameof(PublishWindowBytes), value, "64 KiB to 64 MiB");
    } = 1024 * 1024;

    /// <summary>
    /// How long a blocking subscription that names no time-out may stand still while producers wait. Default 10 s.
    /// </summary>
    public TimeSpan SlowTimeout
    {
        get;
        init =>
            field =
                value > TimeSpan.Zero
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(SlowTimeout), value, "above zero");
    } = TimeSpan.FromSeconds(10);

    /// <summary>Most bytes that one subscription may spill to disk; beyond, it is ended. Default 1 GiB.</summary>
    public long SpillBytesPerSubscription
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(SpillBytesPerSubscription), value, "1 or more");
    } = 1L << 30;

    /// <summary>
    /// Most bytes that all subscriptions together may spill to disk; a subscription that would pass it is ended.
    /// Default 4 GiB.
    /// </summary>
    public long SpillBytes
    {
        get;
        init =>
            field = value >= 1 ? value : throw new ArgumentOutOfRangeException(nameof(SpillBytes), value, "1 or more");
    } = 4L << 30;

    /// <summary>
    /// Most memory for what slow subscriptions keep outside their rings, what the disk has not taken of spills
    /// included. Default 64 MiB.
    /// </summary>
    public long BacklogMemoryBytes
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(BacklogMemoryBytes), value, "1 or more");
    } = 64L << 20;

    /// <summary>
    /// After how long without producers and subscriptions a transient topic gives its memory back; what it held is gone
    /// then. Default 5 min.
    /// </summary>
    public TimeSpan RestAfter
    {
        get;
        init =>
            field =
                value > TimeSpan.Zero
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(RestAfter), value, "above zero");
    } = TimeSpan.FromMinutes(5);

    /// <summary>
    /// After how long without a batch a named producer that is not open is forgotten, by each partition. Default 24 h.
    /// </summary>
    public TimeSpan ProducerExpiry
    {
        get;
        init =>
            field =
                value > TimeSpan.Zero && value <= TimeSpan.FromDays(36_500)
                    ? value
                    : throw new ArgumentOutOfRangeException(
                        nameof(ProducerExpiry),
                        value,
                        "above zero, 36500 days at most"
                    );
    } = TimeSpan.FromHours(24);

    /// <summary>
    /// How often group positions are logged. Default 0.5 s: with the grain of housekeeping and a sync, an unclean stop
    /// takes back what was settled in the last second.
    /// </summary>
    public TimeSpan PositionInterval
    {
        get;
        init =>
            field =
                value > TimeSpan.Zero
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(PositionInterval), value, "above zero");
    } = TimeSpan.FromSeconds(0.5);

    /// <summary>
    /// How often a busy topic's checkpoint is written. Default 10 s: a start after a crash reads again what was written
    /// since.
    /// </summary>
    public TimeSpan CheckpointInterval
    {
        get;
        init =>
            field =
                value > TimeSpan.Zero
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(CheckpointInterval), value, "above zero");
    } = TimeSpan.FromSeconds(10);

    /// <summary>Threads that write journals, 1 to 64. Default 8.</summary>
    public int JournalWriters
    {
        get;
        init =>
            field = value is >= 1 and <= 64
                ? value
                : throw new ArgumentOutOfRangeException(nameof(JournalWriters), value, "1 to 64");
    } = 8;

    /// <summary>
    /// Bytes of durable topics that are read again per second to find damage early, of all topics together; 0 for none.
    /// Default 8 MiB.
    /// </summary>
    public int ScrubBytesPerSecond
    {
        get;
        init =>
            field =
                value >= 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(ScrubBytesPerSecond), value, "0 (none) or more");
    } = 8 * 1024 * 1024;

    /// <summary>
    /// From the beginning of one such pass over everything to that of the next; longer when the rate makes it so.
    /// Default 7 days.
    /// </summary>
    public TimeSpan ScrubInterval
    {
        get;
        init =>
            field =
                value > TimeSpan.Zero
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(ScrubInterval), value, "above zero");
    } = TimeSpan.FromDays(7);

    /// <summary>Gets reports of what the disk does to the broker; null for none. Counts from the start on.</summary>
    internal IStorageEvents? StorageEvents { get; init; }

    /// <summary>What topics with replicas need; null for a broker that has none. Counts from the start on.</summary>
    internal ReplicationOptions? Replication { get; init; }

    /// <summary>Counts what the engine's limits refuse; null for an own one. Counts from the start on.</summary>
    internal LimitRefusals? Refusals { get; init; }

    /// <summary>
    /// Most delayed batches that wait in one partition, some 100 bytes of memory each. Default 100,000.
    /// </summary>
    public int MaxDelayedBatches
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxDelayedBatches), value, "1 or more");
    } = 100_000;

    /// <summary>Most topics. Default 100,000.</summary>
    public int MaxTopics
    {
        get;
        init =>
            field = value >= 1 ? value : throw new ArgumentOutOfRangeException(nameof(MaxTopics), value, "1 or more");
    } = 100_000;

    /// <summary>Most partitions of all topics together. Default 200,000.</summary>
    public int MaxPartitions
    {
        get;
        init =>
            field =
                value >= 1 ? value : throw new ArgumentOutOfRangeException(nameof(MaxPartitions), value, "1 or more");
    } = 200_000;

    /// <summary>Most groups of one topic. Default 10,000.</summary>
    public int MaxGroupsPerTopic
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxGroupsPerTopic), value, "1 or more");
    } = 10_000;

    /// <summary>
    /// After how long without a member, and without anything settled, a group ends; zero for never. Default 30 days.
    /// </summary>
    public TimeSpan GroupExpiry
    {
        get;
        init =>
            field =
                value >= TimeSpan.Zero && value <= TimeSpan.FromDays(36_500)
                    ? value
                    : throw new ArgumentOutOfRangeException(
                        nameof(GroupExpiry),
                        value,
                        "0 (never) or more, 36500 days at most"
                    );
    } = TimeSpan.FromDays(30);

    /// <summary>
    /// Most names of producers that are kept of one topic. Default 100,000. At the limit those go first that no
    /// partition remembers any more.
    /// </summary>
    public int MaxNamedProducersPerTopic
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxNamedProducersPerTopic), value, "1 or more");
    } = 100_000;

    /// <summary>
    /// Most bytes of batches that wait in memory because their topics are full, of all producers together. Default 1
    /// GiB.
    /// </summary>
    public long MaxPendingBytes
    {
        get;
        init =>
            field =
                value >= 0 ? value : throw new ArgumentOutOfRangeException(nameof(MaxPendingBytes), value, "0 or more");
    } = 1L << 30;

    /// <summary>Most users. Default 10,000.</summary>
    public int MaxUsers
    {
        get;
        init =>
            field = value >= 0 ? value : throw new ArgumentOutOfRangeException(nameof(MaxUsers), value, "0 or more");
    } = 10_000;

    /// <summary>
    /// How much of a limit that all count in together one address, or one user, may have while no other has any, in
    /// percent. Default 50. With 100 nothing is kept for others: right where all clients come from one address and have
    /// one user.
    /// </summary>
    public int MaxSharePercent
    {
        get;
        init =>
            field = value is >= 1 and <= 100
                ? value
                : throw new ArgumentOutOfRangeException(nameof(MaxSharePercent), value, "1 to 100");
    } = Shares.UsualPercent;

    /// <summary>Most rights of one user. Default 1,000.</summary>
    public int MaxGrantsPerUser
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxGrantsPerUser), value, "1 or more");
    } = 1_000;

    /// <summary>Most tokens that last, of one user. Default 1,000.</summary>
    public int MaxTokensPerUser
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxTokensPerUser), value, "1 or more");
    } = 1_000;

    /// <summary>
    /// From how many bytes on a partition is told of that only grows; and each time that it has twice as many.
    /// </summary>
    internal long GrowthNoticeBytes { get; init; } = 1L << 30;

    /// <summary>What durable topics are kept with; tests plant faults of the disk here.</summary>
    internal Func<JournalEnvironmentOptions, JournalEnvironment> OpenEnvironment { get; init; } =
        static options => new JournalEnvironment(options);
}

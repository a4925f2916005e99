using System.Numerics;
using LightQ.Protocol;

namespace LightQ.Storage;

/// <summary>How one journal is kept. One directory is one journal: a topic's partition.</summary>
public sealed record JournalOptions
{
    private readonly int _ringBytes = 4 * 1024 * 1024;
    private readonly int _segmentBytes = 64 * 1024 * 1024;
    private readonly int _maxBatchBytes = ProtocolLimits.DefaultBatchBytes;
    private readonly long? _retentionBytes;
    private readonly TimeSpan? _retentionAge;
    private readonly Durability _readLevel = Durability.Fsync;
    private readonly Durability _flush = Durability.Fsync;
    private readonly int _commitBytes = 4 * 1024 * 1024;
    private readonly long _firstOffset;

    /// <summary>The journal's directory; made if absent, unless <see cref="MustExist"/>.</summary>
    public required string Directory { get; init; }

    /// <summary>
    /// Whether the journal was opened before, so that an empty directory is a loss and no beginning. Default false.
    /// </summary>
    public bool MustExist { get; init; }

    /// <summary>The topic's id, written into every segment: a file of another topic is refused.</summary>
    public required Guid TopicId { get; init; }

    /// <summary>Which life of the topic this is; a segment of another one is refused.</summary>
    public ulong Incarnation { get; init; } = 1;

    /// <summary>
    /// The offset of the first message of a journal that is made now: that of a copy whose original begins there. A
    /// journal that exists keeps its own. Default 0.
    /// </summary>
    public long FirstOffset
    {
        get => _firstOffset;
        init =>
            _firstOffset =
                value >= 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(value), value, "FirstOffset is 0 or more.");
    }

    /// <summary>
    /// Bytes between appending and writing: a power of two, at least four batches. Reserved, touched only when used.
    /// Default 4 MiB.
    /// </summary>
    public int RingBytes
    {
        get => _ringBytes;
        init =>
            _ringBytes =
                BitOperations.IsPow2(value) && value >= 4096
                    ? value
                    : throw new ArgumentOutOfRangeException(
                        nameof(value),
                        value,
                        "RingBytes is a power of two, at least 4096."
                    );
    }

    /// <summary>
    /// Bytes of a full-grown segment file; the first ones are smaller. Retention removes whole segments. Default 64
    /// MiB, at most 1 GiB.
    /// </summary>
    public int SegmentBytes
    {
        get => _segmentBytes;
        init =>
            _segmentBytes = value is >= 8192 and <= 1 << 30
                ? value
                : throw new ArgumentOutOfRangeException(nameof(value), value, "SegmentBytes is from 8 KiB to 1 GiB.");
    }

    /// <summary>Largest batch in bytes; a segment holds at least one.</summary>
    public int MaxBatchBytes
    {
        get => _maxBatchBytes;
        init =>
            _maxBatchBytes = value is >= 128 and <= 256 * 1024 * 1024
                ? value
                : throw new ArgumentOutOfRangeException(
                    nameof(value),
                    value,
                    "MaxBatchBytes is from 128 bytes to 256 MiB."
                );
    }

    /// <summary>Stored bytes above which the oldest segments go; null keeps everything.</summary>
    public long? RetentionBytes
    {
        get => _retentionBytes;
        init =>
            _retentionBytes = value is null or > 0
                ? value
                : throw new ArgumentOutOfRangeException(nameof(value), value, "RetentionBytes is positive.");
    }

    /// <summary>Age above which messages go; null keeps them.</summary>
    public TimeSpan? RetentionAge
    {
        get => _retentionAge;
        init =>
            _retentionAge =
                value is null || value > TimeSpan.Zero
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(value), value, "RetentionAge is positive.");
    }

    /// <summary>How safe a batch is before readers see it: Fsync (default) or Written.</summary>
    public Durability ReadLevel
    {
        get => _readLevel;
        init => _readLevel = WrittenOrFsync(value, nameof(ReadLevel));
    }

    /// <summary>
    /// Fsync (default): every commit is synced. Written: synced in the background, for topics whose acks never ask for
    /// more.
    /// </summary>
    public Durability Flush
    {
        get => _flush;
        init => _flush = WrittenOrFsync(value, nameof(Flush));
    }

    /// <summary>Most bytes between two syncs while the ring is not empty. Default 4 MiB.</summary>
    public int CommitBytes
    {
        get => _commitBytes;
        init =>
            _commitBytes =
                value >= 4096
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(value), value, "CommitBytes is at least 4096.");
    }

    /// <summary>Asked before retention removes anything. Null: all of it may go.</summary>
    public FirstOffsetToKeep? KeepFrom { get; init; }

    /// <summary>
    /// Asked by housekeeping while there is more than one segment: in front of which offset no group needs anything, so
    /// that whole segments there may go. Null: nothing goes for that.
    /// </summary>
    public Func<long>? SettledBefore { get; init; }

    /// <summary>
    /// Asked at a start for the log's epoch: everything below the offset was durable in that epoch, as something beside
    /// the log says. 0, and null, say nothing.
    /// </summary>
    public Func<uint, long>? KnownBelow { get; init; }

    /// <summary>
    /// Asked under the append lock when a new segment begins: the state of idempotent producers at that boundary. Null
    /// keeps none.
    /// </summary>
    public Func<byte[]>? ProducerSnapshot { get; init; }

    private static Durability WrittenOrFsync(Durability value, string name) =>
        value is Durability.Written or Durability.Fsync
            ? value
            : throw new ArgumentOutOfRangeException(name, value, $"{name} is Written or Fsync.");
}

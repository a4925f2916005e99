using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Storage;
using LightQ.Storage.Backups;

namespace LightQ.Broker.Logs;

/// <summary>
/// The log behind one partition: append a batch, read runs, truncate. In memory, in a journal, one day replicated.
/// </summary>
/// <remarks>
/// Appends and <see cref="EndPosition"/> belong to the thread that holds the partition's append lock; the rest is for
/// any thread.
/// </remarks>
public interface ITopicLog : IAsyncDisposable
{
    /// <summary>The first offset held.</summary>
    long StartOffset { get; }

    /// <summary>One behind the last offset appended.</summary>
    long EndOffset { get; }

    /// <summary>One behind the last offset that survives a power cut; 0 when none ever does.</summary>
    long DurableOffset { get; }

    /// <summary>One behind the last offset that readers may see.</summary>
    long ReadableOffset { get; }

    /// <summary>Where the next append goes.</summary>
    long EndPosition { get; }

    /// <summary>Changes when the log is made anew.</summary>
    ulong Incarnation { get; }

    /// <summary>Rises at every unclean start.</summary>
    uint Epoch { get; }

    /// <summary>Bytes held.</summary>
    long StoredBytes { get; }

    /// <summary>The highest durability this log reaches.</summary>
    Durability MaxDurability { get; }

    /// <summary>The lowest durability it answers: whoever asks for less is acknowledged at this one.</summary>
    Durability MinDurability => Durability.Memory;

    /// <summary>Why the log takes no more; null while it does.</summary>
    string? Failure { get; }

    /// <summary>How requests are answered that meet <see cref="Failure"/>.</summary>
    ErrorCode FailureCode => ErrorCode.TopicFailed;

    /// <summary>Whether it takes nothing for want of space, which passes.</summary>
    bool IsDiskFull { get; }

    /// <summary>Which space it is in want of, as the engine says that has none; null where it is the disk.</summary>
    internal string? FullReason => null;

    /// <summary>
    /// Of a log with replicas: whether the broker's own disk has no room, so that another node is to serve it.
    /// </summary>
    internal bool IsLocalFull => false;

    /// <summary>The journal that holds it; null for a log in memory, and for one that could not be opened.</summary>
    internal JournalLog? Local => null;

    /// <summary>What was found damaged since the log was opened; subscribers get a gap there.</summary>
    IEnumerable<JournalDamage> Damage { get; }

    /// <summary>
    /// One behind the last offset that is still what it was in an epoch; see <see cref="Journal.EndOfEpoch"/>.
    /// </summary>
    long EndOfEpoch(uint epoch);

    /// <summary>Appends one batch that has been checked; copies it once and stamps the copy.</summary>
    /// <param name="batch">The batch as the producer sent it.</param>
    /// <param name="appendTime">Unix microseconds; not below that of the batch before.</param>
    /// <param name="baseOffset">Offset of its first message.</param>
    /// <param name="user">See <see cref="BatchStamp.User"/>.</param>
    AppendResult TryAppend(ReadOnlySpan<byte> batch, long appendTime, out long baseOffset, uint user = 0);

    /// <summary>After a series of appends: gets them on their way to readers and disk. Any thread.</summary>
    void Flush();

    /// <summary>The position below which everything has reached <paramref name="durability"/>.</summary>
    long PositionOf(Durability durability);

    /// <summary>
    /// From now on progress is also announced when bytes are written, not only when they are durable.
    /// </summary>
    void NotifyWritten();

    /// <summary>Opens a reader.</summary>
    /// <param name="start">Where to begin: earliest, latest, offset or timestamp.</param>
    /// <param name="value">The offset, or unix microseconds.</param>
    /// <param name="holds">Whether the log must keep what the reader has not read (transient logs only).</param>
    /// <param name="ready">Called, from any thread, when a pending read can be tried again.</param>
    LogReader OpenReader(StartKind start, long value, bool holds, Action ready);

    /// <summary>Removes everything before <paramref name="beforeOffset"/>.</summary>
    /// <returns>The first offset now served.</returns>
    long Truncate(long beforeOffset);

    /// <summary>Changes how long messages are kept; 0 and zero are no limit. Nothing for a log in memory.</summary>
    void SetRetention(long bytes, TimeSpan age);

    /// <summary>
    /// Has housekeeping look at the log soon: something of it may be removed. Nothing for a log in memory.
    /// </summary>
    void RequestLook() { }

    /// <summary>Removes the log for good. Readers must be closed first.</summary>
    ValueTask DeleteAsync();

    /// <summary>What the log holds now, to be copied while it goes on; null for one that keeps nothing.</summary>
    JournalSnapshot? Capture() => null;
}

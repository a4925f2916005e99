using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Writing;

/// <summary>What appender, writer, readers and housekeeping of one journal share.</summary>
internal sealed class LogState
{
    private readonly ILogHost _host;
    private readonly PublishedEnd _readable;
    private JournalOptions _options;
    private JournalFailure? _failure;
    private long _startOffset;
    private bool _diskFull;
    private bool _isBlocked;
    private bool _closed;
    private bool _isEpochKept;
    private JournalDamage[] _damage = [];
    private bool _atRest = true;

    public LogState(ILogHost host, JournalOptions options, IFileSystem files, RecoveredLog recovered)
    {
        _host = host;
        _options = options;
        Files = files;
        Epochs = recovered.Epochs.ToArray(); // A list has room for four, and nearly every log has one.
        Segments = new SegmentList(recovered.Segments);
        Written = new PublishedEnd(recovered.End);
        Durable = new PublishedEnd(recovered.End);
        _readable = options.ReadLevel == Durability.Written ? Written : Durable;
        OpenedAt = recovered.End.Position;
        _startOffset = recovered.StartOffset;
        _isEpochKept = recovered.IsEpochKept;
        Key = recovered.Key;
    }

    public JournalOptions Options
    {
        get => Volatile.Read(ref _options);
        set => Volatile.Write(ref _options, value);
    }

    public IFileSystem Files { get; }

    public uint Epoch => Epochs[^1].Epoch;

    /// <summary>What batches are signed with.</summary>
    public LogKey Key { get; }

    /// <summary>Which epoch began at which offset, oldest first.</summary>
    public IReadOnlyList<(uint Epoch, long FirstOffset)> Epochs { get; }

    public SegmentList Segments { get; }

    public PublishedEnd Written { get; }

    public PublishedEnd Durable { get; }

    /// <summary>What readers may see.</summary>
    public PublishedEnd Readable => _readable;

    /// <summary>Log position where this process began to write: what is behind it may not be in memory.</summary>
    public long OpenedAt { get; }

    public long StartOffset
    {
        get => Volatile.Read(ref _startOffset);
        set => Volatile.Write(ref _startOffset, value);
    }

    public bool DiskFull
    {
        get => Volatile.Read(ref _diskFull);
        set => Volatile.Write(ref _diskFull, value);
    }

    /// <summary>
    /// What was accepted could not be written for want of space: it waits, and nothing more is accepted.
    /// </summary>
    public bool IsBlocked
    {
        get => Volatile.Read(ref _isBlocked);
        set => Volatile.Write(ref _isBlocked, value);
    }

    /// <summary>
    /// Whether the disk knows where the epoch began. It does not when the disk was full at the start; nothing may be
    /// appended until then.
    /// </summary>
    public bool IsEpochKept
    {
        get => Volatile.Read(ref _isEpochKept);
        set => Volatile.Write(ref _isEpochKept, value);
    }

    /// <summary>
    /// The checkpoint says that the log ends exactly where it says, as after a clean stop. It must say otherwise before
    /// a byte is written.
    /// </summary>
    public bool AtRest
    {
        get => Volatile.Read(ref _atRest);
        set => Volatile.Write(ref _atRest, value);
    }

    /// <summary>No more appends and reads.</summary>
    public bool Closed
    {
        get => Volatile.Read(ref _closed);
        set => Volatile.Write(ref _closed, value);
    }

    /// <summary>What was found damaged since the log was opened.</summary>
    public IReadOnlyList<JournalDamage> Damage => Volatile.Read(ref _damage);

    public JournalFailure? Failure => Volatile.Read(ref _failure);

    /// <summary>
    /// Log position from which on messages are still in memory, because this process wrote them lately.
    /// </summary>
    /// <param name="tailBytes">How much that is.</param>
    public long TailStart(long tailBytes) => Math.Max(OpenedAt, Written.Position - tailBytes);

    /// <summary>Where the durable part of a segment ends; null when it has none.</summary>
    public LogEnd? DurableEndOf(Segment segment)
    {
        LogEnd durable = Durable.Read();
        if (Segments.Next(segment) is { Header: var next })
        {
            return new LogEnd(
                next.BasePosition,
                next.BaseOffset,
                next.PreviousTime,
                segment.Header.Ordinal,
                next.PreviousCrc
            );
        }

        return durable.Ordinal == segment.Header.Ordinal ? durable : null;
    }

    /// <summary>A reader could not read something of a segment.</summary>
    public void Suspect(Segment segment, LogGap gap) => _host.OnSuspected(segment, gap);

    /// <summary>Whether any of a gap is known to be damaged.</summary>
    public bool IsDamaged(LogGap gap) =>
        Array.Exists(Volatile.Read(ref _damage), damage => damage.Touches(gap.FirstOffset, gap.LastOffset));

    /// <summary>
    /// Takes in what is damaged of a segment, in place of what was known of it, and tells what is new. On one thread
    /// only.
    /// </summary>
    public void NoteDamage(string file, List<JournalDamage> found)
    {
        JournalDamage[] before = _damage;
        if (before.Length == 0 && found.Count == 0)
            return;
        Volatile.Write(
            ref _damage,
            [.. before.Where(damage => damage.File != file && damage.LastOffset >= StartOffset), .. found]
        );
        foreach (JournalDamage damage in found)
        {
            if (!before.Contains(damage))
                _host.OnDamaged(damage);
        }
    }

    /// <summary>Reads or writes a file that can be done without, and tells when the disk refuses.</summary>
    /// <returns>False when it does.</returns>
    public bool TryDerived(string path, Action work) => DerivedFile.Try(path, work, _host.OnRefused);

    /// <summary>Takes in what recovery found.</summary>
    public void NoteDamage(IEnumerable<JournalDamage> recovered)
    {
        foreach (IGrouping<string, JournalDamage> file in recovered.GroupBy(damage => damage.File))
            NoteDamage(file.Key, [.. file]);
    }

    /// <summary>Latches the first failure.</summary>
    /// <returns>True for the first.</returns>
    public bool Fail(JournalFailure failure) => Interlocked.CompareExchange(ref _failure, failure, null) is null;

    public string PathOf(long ordinal, string extension) =>
        Path.Combine(Options.Directory, SegmentName.Of(ordinal, extension));
}

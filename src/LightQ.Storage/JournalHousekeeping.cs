using LightQ.Protocol;
using LightQ.Scheduling;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage;

/// <summary>
/// A journal's slow work beside the writer: retention, checkpoints, derived files, and the end of it.
/// </summary>
/// <remarks>One thing at a time, under a lock that appending never takes, and writing only to leave rest.</remarks>
internal sealed class JournalHousekeeping(
    Journal journal,
    LogState log,
    SegmentSource source,
    CheckpointFile checkpoints,
    JournalEnvironment environment
)
{
    private const int KeptSnapshots = 2;

    /// <summary>
    /// Looks of housekeeping behind which an unused file is closed: a quarter of a second for what only catch-up reads
    /// need, five for the tail.
    /// </summary>
    private const int ColdLooks = 1;
    private const int HotLooks = 20;

    private static readonly TimeSpan LongestWait = TimeSpan.FromHours(1);

    /// <summary>
    /// When to look again at what has expired and is kept: because of a message that is not due yet, whose delivery is
    /// a commit, which is looked at anyway; or until the clock is sure.
    /// </summary>
    private static readonly TimeSpan HeldWait = TimeSpan.FromMinutes(1);

    private readonly Journal _journal = journal;
    private readonly LogState _log = log;
    private readonly SegmentSource _source = source;
    private readonly CheckpointFile _checkpoints = checkpoints;
    private readonly JournalEnvironmentOptions _environment = environment.Options;
    private readonly SteadyClock _clock = environment.Clock;
    private readonly Lock _lock = new();
    private long _lastCheckpoint = environment.Clock.GetTimestamp();
    private long _checkpointPosition = log.Durable.Position;
    private bool _ended;

    /// <summary>Retention, unused files, and the periodic checkpoint.</summary>
    /// <returns>When the next of them is due.</returns>
    public TimeSpan? Look()
    {
        lock (_lock)
        {
            if (_ended)
                return null;
            try
            {
                MoveStart(RetentionStart());
                Rest(ColdLooks, HotLooks);
                KeepCheckpoint();
            }
            catch (IOException error) when (StorageIOException.CanBeWrittenLater(error))
            {
                return TimeSpan.Zero; // A full disk puts retention and checkpoints off.
            }
            return NextLook();
        }
    }

    /// <summary>
    /// Before the first byte behind a rest: from now on the log may end anywhere behind the checkpoint.
    /// </summary>
    public void LeaveRest()
    {
        lock (_lock)
        {
            if (!_log.AtRest)
                return;
            WriteCheckpoint(clean: Mutation.StayAtRest);
            _log.AtRest = false;
            _lastCheckpoint = _clock.GetTimestamp();
        }
    }

    /// <summary>Makes up for what a start on a full disk could not write.</summary>
    /// <exception cref="IOException">It is still full, or worse.</exception>
    public void KeepEpoch()
    {
        lock (_lock)
        {
            if (_ended)
                return;
            EpochFile.Write(_log.Files, _log.Options.Directory, _log.Epochs);
            _log.IsEpochKept = true;
        }
    }

    /// <summary>Makes offsets below one unreadable, and removes the segments that hold nothing else.</summary>
    public void TruncateBefore(long offset)
    {
        lock (_lock)
        {
            if (!_ended)
                MoveStart(Math.Min(offset, _log.Readable.Offset));
        }
    }

    /// <summary>After a roll: the sealed segment's index, the new one's snapshot of producers.</summary>
    public void WriteDerived(Segment? sealedSegment, Segment current, byte[]? producers)
    {
        lock (_lock)
        {
            if (_ended)
                return;
            Rest(coldLooks: 0, HotLooks); // At a gigabyte a second even a quarter of one is much memory to keep mapped.
            if (
                sealedSegment is { Index: { } index }
                && sealedSegment.Header.Ordinal >= _log.Segments.First!.Header.Ordinal
            )
            {
                WriteIndex(sealedSegment, index);
            }

            if (producers is null)
                return;
            long ordinal = current.Header.Ordinal;
            WriteProducers(
                ordinal,
                new ProducerSnapshotFile(current.BasePosition, current.BaseOffset, current.Crc, producers)
            );
            _log.Files.Delete(_log.PathOf(ordinal - KeptSnapshots, SegmentName.Producers));
        }
    }

    /// <summary>Leaves everything so that the next start scans nothing.</summary>
    public void WriteClosingState(byte[]? producers)
    {
        lock (_lock)
        {
            if (_log.Segments.Last is { } last && producers is not null)
            {
                WriteProducers(
                    last.Header.Ordinal,
                    new ProducerSnapshotFile(_log.Durable.Position, _log.Durable.Offset, last.Crc, producers)
                );
            }
            WriteLastIndex();
            WriteCheckpoint(clean: true);
        }
    }

    /// <summary>Closes every file; readers with a run in flight keep theirs.</summary>
    public void End(bool delete)
    {
        lock (_lock)
        {
            _ended = true;
            if (delete)
                DeleteFiles();
            _source.Dispose();
            foreach (Segment segment in _log.Segments.RemoveAll())
                segment.Retire();
            if (delete)
                RemoveDirectory();
        }
    }

    /// <summary>
    /// An idle topic is left as a clean stop would leave it: however the process ends, the next start scans
    /// nothing of it.
    /// </summary>
    private void ComeToRest()
    {
        _log.AtRest = true;
        // Either the writer sees this and waits for the lock, or this thread sees the writer at work.
        Interlocked.MemoryBarrier();
        bool isAtRest = false;
        try
        {
            if (!_journal.IsQuiet)
                return;
            WriteLastIndex();
            WriteCheckpoint(clean: true);
            isAtRest = true;
        }
        finally
        {
            _log.AtRest = isAtRest;
        }
    }

    private void WriteLastIndex()
    {
        if (_log.Segments.Last is { Index: { } index } last)
            WriteIndex(last, index);
    }

    private void WriteIndex(Segment segment, SegmentIndex index)
    {
        string path = _log.PathOf(segment.Header.Ordinal, SegmentName.Index);
        _log.TryDerived(path, () => SegmentIndexFile.Write(_log.Files, path, index, segment.Crc));
    }

    private void WriteProducers(long ordinal, ProducerSnapshotFile snapshot)
    {
        string path = _log.PathOf(ordinal, SegmentName.Producers);
        _log.TryDerived(path, () => snapshot.Write(_log.Files, path));
    }

    /// <summary>
    /// Closes the files that were not used for so many looks: those behind the tail, and those of the tail.
    /// </summary>
    private void Rest(int coldLooks, int hotLooks)
    {
        long hot = _log.TailStart(_environment.TailBytes);
        foreach (Segment segment in _log.Segments.All)
        {
            segment.Rest(
                _log.Files.IsCrowded ? 0
                    : segment.EndPosition <= hot ? coldLooks
                    : hotLooks,
                _log.Durable
            );
        }
    }

    private void KeepCheckpoint()
    {
        if (_log.AtRest || _clock.GetElapsedTime(_lastCheckpoint) < _environment.CheckpointInterval)
            return;
        _lastCheckpoint = _clock.GetTimestamp();
        if (_log.Durable.Position != _checkpointPosition)
            WriteCheckpoint(clean: false);
        else
            ComeToRest();
    }

    /// <summary>
    /// While a file is open at the next look; else when a checkpoint is due or something expires; never for a topic at
    /// rest that keeps everything.
    /// </summary>
    private TimeSpan? NextLook()
    {
        foreach (Segment segment in _log.Segments.All)
        {
            if (segment.IsOpen)
                return TimeSpan.Zero;
        }
        TimeSpan? checkpoint = _log.AtRest
            ? null
            : _environment.CheckpointInterval - _clock.GetElapsedTime(_lastCheckpoint);
        TimeSpan? expiry = NextExpiry();
        if (expiry < TimeSpan.Zero)
            expiry = HeldWait;
        TimeSpan? next = checkpoint is null || expiry < checkpoint ? expiry : checkpoint;
        return next > LongestWait ? LongestWait : next;
    }

    /// <summary>Within which time retention removes something by its age, if nothing more is appended.</summary>
    private TimeSpan? NextExpiry()
    {
        LogEnd end = _log.Durable.Read();
        if (_log.Options.RetentionAge is not { } age || _log.StartOffset == end.Offset)
            return null;
        long last = end.AppendTime;
        foreach (Segment segment in _log.Segments.All)
        {
            if (segment.BaseOffset > _log.StartOffset)
            {
                last = segment.Header.PreviousTime;
                break;
            }
        }
        return last == 0 ? null : UnixMicroseconds.ToTime(last) - _clock.Ago(age);
    }

    private long RetentionStart()
    {
        JournalOptions options = _log.Options;
        long start = _log.StartOffset;
        if (options.RetentionBytes is null && options.RetentionAge is null && options.SettledBefore is null)
            return start;
        LogEnd end = _log.Durable.Read();
        ReadOnlySpan<Segment> segments = _log.Segments.All;
        long oldest = options.RetentionAge is { } age ? UnixMicroseconds.From(_clock.SureAgo(age)) : long.MinValue;
        bool isAllTooOld = end.AppendTime != 0 && end.AppendTime < oldest;
        long settled = options.SettledBefore is { } settledBefore && segments.Length > 1 ? settledBefore() : 0;
        int removable = 0;
        for (int i = 1; i < segments.Length && segments[i].BaseOffset <= end.Offset; i++)
        {
            bool tooMuch = options.RetentionBytes is { } bytes && end.Position - segments[i].BasePosition >= bytes;
            if (!tooMuch && segments[i].Header.PreviousTime >= oldest && segments[i].BaseOffset > settled)
                break;
            removable = i;
        }
        long mostOffset = end.Offset;
        if (options.KeepFrom is { } keepFrom && segments.Length != 0 && (isAllTooOld || removable != 0))
        {
            mostOffset = Math.Min(
                mostOffset,
                keepFrom(segments[removable].BaseOffset, segments[removable].BasePosition - segments[0].BasePosition)
            );
        }

        if (isAllTooOld)
            return mostOffset;
        while (removable != 0 && segments[removable].BaseOffset > mostOffset)
            removable--;
        return removable == 0 ? start : Math.Max(start, segments[removable].BaseOffset);
    }

    private void MoveStart(long offset)
    {
        if (offset > _log.StartOffset)
        {
            // Before any file is deleted: a missing segment below the start then does not count as damage.
            WriteCheckpoint(clean: _log.AtRest, offset);
            _log.StartOffset = offset;
        }
        // After a power cut anything that was only written may be gone, a segment's header page too. So the last
        // durable segment stays.
        Segment[] removed = _log.Segments.RemoveBefore(_log.StartOffset, _log.Durable.Read().Ordinal);
        if (removed.Length == 0)
            return;
        foreach (Segment segment in removed)
        {
            _log.Files.Delete(_log.PathOf(segment.Header.Ordinal, SegmentName.Index));
            _log.Files.Delete(_log.PathOf(segment.Header.Ordinal, SegmentName.Producers));
            _source.Remove(segment);
        }
        _log.Files.SyncDirectory(_log.Options.Directory);
    }

    private void WriteCheckpoint(bool clean, long? startOffset = null)
    {
        LogEnd durable = _log.Durable.Read();
        _checkpoints.Write(
            new Checkpoint(
                0,
                _log.Options.Incarnation,
                startOffset ?? _log.StartOffset,
                durable,
                _log.Epoch,
                clean,
                _log.Key,
                IsBegun: !clean // The writer leaves rest when it has a file to write to.
            )
        );
        _checkpointPosition = durable.Position;
    }

    private void DeleteFiles()
    {
        string directory = _log.Options.Directory;
        foreach (string name in _log.Files.List(directory))
            _log.Files.Delete(Path.Combine(directory, name));
        string quarantine = Path.Combine(directory, JournalRecovery.Quarantine);
        foreach (string name in _log.Files.List(quarantine))
            _log.Files.Delete(Path.Combine(quarantine, name));
        _log.Files.DeleteDirectory(quarantine);
    }

    private void RemoveDirectory()
    {
        foreach (string name in _log.Files.List(_log.Options.Directory))
            _log.Files.Delete(Path.Combine(_log.Options.Directory, name));
        _log.Files.DeleteDirectory(_log.Options.Directory);
        if (Path.GetDirectoryName(Path.GetFullPath(_log.Options.Directory)) is { } parent)
            _log.Files.SyncDirectory(parent);
    }
}

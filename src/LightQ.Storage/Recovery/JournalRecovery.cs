using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>Finds out where a log ends. Touches nothing unless it is sure that only a torn tail is cut.</summary>
internal sealed class JournalRecovery
{
    private const int ScanBytes = 1 << 20;
    private const int WalkBytes = 64 * 1024;
    public const string Quarantine = "quarantine";
    private const string KnownBeyond = "what groups have settled shows that messages behind it had been durable";

    private readonly JournalOptions _options;
    private readonly IFileSystem _files;
    private readonly CheckpointFile _checkpoints;
    private List<Segment> _segments = [];
    private List<long> _blank = [];
    private List<long> _expired = [];
    private bool _isEpochKept = true;
    private long _knownOffset;

    private readonly Checkpoint? _lastCheckpoint;
    private readonly bool _hasDamagedSlot;
    private readonly List<JournalDamage> _damage = [];
    private readonly List<string> _rebuilt = [];
    private readonly HashSet<long> _damagedPositions = [];
    private LogKey _key;

    private JournalRecovery(JournalOptions options, IFileSystem files)
    {
        _options = options;
        _files = files;
        _checkpoints = CheckpointFile.Open(files, options.Directory, out _lastCheckpoint, out _hasDamagedSlot);
    }

    /// <summary>Recovers the log and leaves a checkpoint that says where it ends.</summary>
    /// <exception cref="JournalCorruptException">Bytes that had been durable are damaged or missing.</exception>
    public static RecoveredLog Run(JournalOptions options, IFileSystem files, IRecoveredBatchVisitor? visitor) =>
        new JournalRecovery(options, files).Run(visitor);

    private RecoveredLog Run(IRecoveredBatchVisitor? visitor)
    {
        (_segments, _blank) = SegmentFiles.Find(_options, _files);
        Checkpoint? checkpoint = _lastCheckpoint;
        _key = KeyOf(checkpoint);
        List<(uint Epoch, long FirstOffset)>? epochs = EpochFile.Read(_files, _options.Directory);
        SetExpiredAside(checkpoint);
        uint epoch = HighestEpoch(epochs, checkpoint);
        _knownOffset = _options.KnownBelow?.Invoke(epoch) ?? 0;
        CheckSequence(checkpoint);

        FileWindow? window = CheckDurable(checkpoint);
        bool clean = IsClean(checkpoint, window);
        NoteRebuilt(checkpoint, epochs);
        if (_segments.Count > 0)
            PrepareIndex(_segments[^1], checkpoint);
        LogEnd end = clean ? checkpoint!.Value.Durable : FindEnd(checkpoint);
        if (_segments.Count > 0)
            _segments[^1].EndPosition = end.Position;
        // Syncs the directory too, unless the stop was a clean one.
        epochs = RaiseEpoch(epochs, epoch, clean, end.Offset);
        if (visitor is not null)
            WalkProducers(visitor, end);
        if (_key.IsNone)
            _key = LogKey.Create(); // A new log, or one that an older version wrote.

        long first = _segments.Count > 0 ? _segments[0].BaseOffset : _options.FirstOffset;
        long start = Math.Max(checkpoint?.StartOffset ?? 0, first);
        start = Math.Min(start, end.Offset);
        if (!clean || start != checkpoint!.Value.StartOffset || _expired.Count > 0)
        {
            _checkpoints.Write(
                new Checkpoint(0, _options.Incarnation, start, end, epochs[^1].Epoch, Clean: true, _key)
            ); // At rest until a client publishes.
        }

        // Only behind what says that they are not needed.
        RemoveLeftovers();
        RemoveExpired();
        return new RecoveredLog(_segments, start, end, epochs, _isEpochKept, _checkpoints, _key, _damage, _rebuilt);
    }

    private LogKey KeyOf(Checkpoint? checkpoint) =>
        checkpoint is { Key.IsNone: false, Key: var key }
            ? key
            : _segments.FindLast(segment => !segment.Header.Key.IsNone)?.Header.Key ?? default;

    /// <summary>
    /// Whether the log ends where its checkpoint says: it was closed, or was at rest. A slot that is lost, or old files
    /// put back, must not hide what is behind.
    /// </summary>
    private bool IsClean(Checkpoint? checkpoint, FileWindow? window)
    {
        if (checkpoint is not { Clean: true, Durable: var end } || _hasDamagedSlot)
            return false;
        if (_segments.Count == 0)
            return end.Ordinal == 0 && _knownOffset <= end.Offset;
        Segment last = _segments[^1];
        return end.Ordinal == last.Header.Ordinal
            && end.Position <= last.Limit
            && _knownOffset <= end.Offset
            && BatchScan.Run(window!, last, end, last.Limit, payloads: false) == end;
    }

    /// <summary>
    /// What the checkpoint knows to be durable is not walked again. But where it ends in nothing but zeros, or behind
    /// the file, a walk tells whether a tail is gone.
    /// </summary>
    /// <returns>The file of the segment where that ends, read from there on; null when there is none.</returns>
    private FileWindow? CheckDurable(Checkpoint? checkpoint)
    {
        if (
            checkpoint is not { Durable: { Ordinal: > 0 } end }
            || _segments.Find(s => s.Header.Ordinal == end.Ordinal) is not { } segment
        )
        {
            return null;
        }

        var window = new FileWindow(segment.File, WalkBytes);
        int bytes = (int)Math.Min(BatchLayout.HeaderSize, end.Position - segment.BasePosition);
        if (bytes <= 0 || Mutation.TrustLength)
            return window;
        // It also has what follows, which is looked at next: no other read.
        if (
            end.Position <= segment.Limit
            && window.Get(segment.FilePosition(end.Position) - bytes, bytes).ContainsAnyExcept((byte)0)
        )
        {
            return window;
        }
        LogEnd at = BatchScan.Run(
            new FileWindow(segment.File, ScanBytes),
            segment,
            StartOf(segment),
            Math.Min(end.Position, segment.Limit),
            payloads: false
        );
        if (at.Position == end.Position)
            return window;
        Keep(segment.Path);
        throw Corrupt(
            segment.Header.Ordinal,
            segment.FilePosition(at.Position),
            at.Offset,
            end.Offset - 1,
            "there is nothing where durable batches were"
        );
    }

    /// <summary>Files beside the segments that are made anew from them.</summary>
    private void NoteRebuilt(Checkpoint? checkpoint, List<(uint Epoch, long FirstOffset)>? epochs)
    {
        if (_segments.Count == 0)
            return;
        if (checkpoint is null)
        {
            _rebuilt.Add(
                $"the file '{CheckpointFile.Name}', which was missing or not valid: nothing said where the log ends"
            );
        }
        else if (_hasDamagedSlot)
        {
            _rebuilt.Add($"one of the two slots of the file '{CheckpointFile.Name}', which was not valid");
        }
        if (epochs is not { Count: > 0 })
            _rebuilt.Add($"the file '{EpochFile.Name}', which was missing or not valid");
        else if (epochs[^1].Epoch < _segments[^1].Header.Epoch)
            _rebuilt.Add($"the file '{EpochFile.Name}', which was an older one");
    }

    /// <summary>
    /// Segments below the log's start count no more: after a power cut any of their names may be back, and not all of
    /// them.
    /// </summary>
    private void SetExpiredAside(Checkpoint? checkpoint)
    {
        int first = checkpoint is { } known
            ? _segments.FindLastIndex(segment => segment.BaseOffset <= known.StartOffset)
            : -1;
        if (first < 0)
            return;
        long ordinal = _segments[first].Header.Ordinal;
        _expired =
        [
            .. _segments[..first].Select(segment => segment.Header.Ordinal),
            .. _blank.Where(blank => blank < ordinal),
        ];
        _segments.RemoveRange(0, first);
        _blank.RemoveAll(blank => blank < ordinal);
    }

    /// <summary>Every segment that must be there is there.</summary>
    private void CheckSequence(Checkpoint? checkpoint)
    {
        long last = _segments.Count == 0 ? 0 : _segments[^1].Header.Ordinal;
        long durable = checkpoint?.Durable.Offset ?? 0;
        foreach (long ordinal in _blank)
        {
            // Files are prepared with a zero header page. Without a checkpoint nothing says that another page was never
            // used.
            if (
                ordinal < last
                || ordinal <= checkpoint?.Durable.Ordinal
                || (checkpoint is null && !HasZeroHeader(ordinal))
            )
            {
                throw Corrupt(
                    ordinal,
                    0,
                    FirstOffsetOf(ordinal),
                    Math.Max(FirstOffsetOf(last), durable) - 1,
                    "the header page of a used segment is not valid"
                );
            }
        }
        for (int i = 1; i < _segments.Count; i++)
        {
            long expected = _segments[i - 1].Header.Ordinal + 1;
            if (_segments[i].Header.Ordinal != expected)
            {
                throw Corrupt(
                    expected,
                    0,
                    _segments[i - 1].BaseOffset,
                    _segments[i].BaseOffset - 1,
                    "a segment is missing"
                );
            }
        }
        foreach (Segment segment in _segments[..Math.Max(0, _segments.Count - 1)])
        {
            if (segment.EndPosition > segment.Limit && !Mutation.TrustLength)
                throw CutShort(segment);
        }
        bool isFirstGone =
            last == 0
            && checkpoint is { Clean: false } unclean
            && (
                _blank.Count == 0
                    ? unclean.IsBegun
                    : _blank.Exists(ordinal => LengthOf(ordinal) < SegmentExtent.LeastFileBytes)
            );
        if (isFirstGone && !Mutation.TrustLength)
            throw Corrupt(1, 0, durable, _knownOffset - 1, "the segment had been made and is gone, or cut");
        if (last == 0 && _knownOffset > durable)
            throw Corrupt(1, 0, durable, _knownOffset - 1, KnownBeyond);
        if (checkpoint is { } known && known.Durable.Ordinal > last)
            throw Corrupt(last + 1, 0, FirstOffsetOf(last), durable - 1, "a segment is missing");
        if (checkpoint is { } start && _segments.Count > 0 && start.StartOffset < _segments[0].BaseOffset)
        {
            throw Corrupt(
                _segments[0].Header.Ordinal - 1,
                0,
                start.StartOffset,
                _segments[0].BaseOffset - 1,
                "a segment is missing"
            );
        }
    }

    /// <summary>A segment that is full has fewer bytes than the next one says that it holds.</summary>
    private JournalCorruptException CutShort(Segment segment)
    {
        LogEnd at = BatchScan.Run(
            new FileWindow(segment.File, WalkBytes),
            segment,
            StartOf(segment),
            segment.Limit,
            payloads: false
        );
        return Corrupt(
            segment.Header.Ordinal,
            segment.FileBytes,
            at.Offset,
            _segments.First(s => s.BasePosition == segment.EndPosition && s != segment).BaseOffset - 1,
            $"the file has {segment.FileBytes} bytes and held {segment.FilePosition(segment.EndPosition)}"
        );
    }

    /// <summary>Scans from the checkpoint, or from the start without one, and cuts a torn tail.</summary>
    private LogEnd FindEnd(Checkpoint? checkpoint)
    {
        if (_segments.Count == 0)
            return checkpoint?.Durable ?? default(LogEnd) with { Offset = _options.FirstOffset };
        int first = 0;
        LogEnd at = StartOf(_segments[0]);
        if (checkpoint is { Durable.Ordinal: > 0 } known)
        {
            int index = _segments.FindIndex(segment => segment.Header.Ordinal == known.Durable.Ordinal);
            if (index >= 0)
                (first, at) = (index, known.Durable);
        }
        for (int i = first; i < _segments.Count - 1; i++, at = StartOf(_segments[i]))
            PassSealed(_segments[i], _segments[i + 1], at);
        return CutTail(_segments[^1], at, checkpoint);
    }

    /// <summary>
    /// The next segment was begun, so this one had been synced: its batches are all in their places, whatever became of
    /// their payloads.
    /// </summary>
    private void PassSealed(Segment segment, Segment next, LogEnd at)
    {
        var window = new FileWindow(segment.File, ScanBytes);
        for (
            LogEnd before = at;
            BatchScan.TryPass(window, segment, segment.EndPosition, ref at, out _, out bool isWhole);
            before = at
        )
        {
            if (!isWhole)
                Note(segment, new DamagedBatch(before, at));
        }
        if (
            at.Position == segment.EndPosition
            && at.Offset == next.BaseOffset
            && at.ChainCrc == next.Header.PreviousCrc
        )
        {
            return;
        }

        Keep(segment.Path);
        throw Corrupt(
            segment.Header.Ordinal,
            segment.FilePosition(at.Position),
            at.Offset,
            next.BaseOffset - 1,
            "a batch is not valid"
        );
    }

    private LogEnd CutTail(Segment last, LogEnd at, Checkpoint? checkpoint)
    {
        LogTail tail = LogTail.Find(
            new FileWindow(last.File, ScanBytes),
            last,
            at,
            _hasDamagedSlot ? checkpoint?.AsUnclean() : checkpoint,
            _knownOffset,
            last.Extent.NextBytes != 0 ? LengthOf(last.Header.Ordinal + 1) : null,
            FindProofInBlank()
        );
        if (tail.IsCorrupt)
        {
            Keep(last.Path);
            throw Corrupt(
                last.Header.Ordinal,
                last.FilePosition(tail.End.Position),
                tail.End.Offset,
                tail.DurableOffset - 1,
                tail.Loss
                    ?? (
                        _knownOffset == tail.DurableOffset
                            ? KnownBeyond
                            : "a batch is not valid, and what follows shows that it had been durable"
                    )
            );
        }
        foreach (DamagedBatch damaged in tail.Damaged)
            Note(last, damaged);
        if (tail.Damaged.Count > 0)
        {
            // The proof that these batches had been synced may lie behind the end. It must not be lost if this start is
            // killed after the cut.
            last.File.Sync();
            long start = checkpoint?.StartOffset ?? _segments[0].BaseOffset;
            _checkpoints.Write(
                new Checkpoint(
                    0,
                    _options.Incarnation,
                    start,
                    tail.End,
                    checkpoint?.Epoch ?? last.Header.Epoch,
                    Clean: false,
                    _key
                )
            );
        }
        if (!Mutation.NoZeroAfterCut)
            TailRepair.Cut(last.File, last.FilePosition(tail.End.Position), tail.UsedEnd);
        return tail.End;
    }

    /// <summary>
    /// What the segment proves that was about to begin, when its header page did not get to the disk and its batches
    /// did.
    /// </summary>
    private long FindProofInBlank()
    {
        long proof = -1;
        foreach (long ordinal in _blank)
        {
            using IStorageFile file = _files.Open(PathOf(ordinal, SegmentName.Log), OpenMode.Read);
            proof = Math.Max(
                proof,
                TailRepair.FindProof(
                    file,
                    new SegmentHeader { Ordinal = ordinal, Key = _key },
                    SegmentHeader.PageSize,
                    out _
                )
            );
        }
        return proof;
    }

    private void Note(Segment segment, DamagedBatch damaged)
    {
        _damagedPositions.Add(damaged.Start.Position);
        string file = Path.GetFileName(segment.Path);
        long lastOffset = damaged.Next.Offset - 1,
            bytes = damaged.Next.Position - damaged.Start.Position;
        if (_damage is [.., var last] && last.File == file && last.LastOffset + 1 == damaged.Start.Offset)
            _damage[^1] = last with { LastOffset = lastOffset, Bytes = last.Bytes + bytes };
        else
            _damage.Add(new JournalDamage(file, damaged.Start.Offset, lastOffset, bytes, JournalDamage.OtherBytes));
    }

    /// <summary>
    /// The segment that is appended to has its index in memory: what a file of it knows, and what a scan adds.
    /// </summary>
    private void PrepareIndex(Segment last, Checkpoint? checkpoint)
    {
        last.Index = new SegmentIndex(last.BasePosition, last.FileBytes);
        if (checkpoint is { } known && known.Durable.Ordinal == last.Header.Ordinal)
        {
            string path = PathOf(last.Header.Ordinal, SegmentName.Index);
            DerivedFile.Try(
                path,
                () =>
                    SegmentIndexFile.TryRead(
                        _files,
                        path,
                        last.Index,
                        last.Crc,
                        last.BasePosition,
                        known.Durable.Position
                    ),
                NoteRefused
            );
        }
    }

    private void NoteRefused(string file, Exception error) =>
        _rebuilt.Add($"the file '{file}', which the disk did not give: {DiskError.Describe(error)}");

    private void RemoveLeftovers()
    {
        if (_segments.Count > 0)
            SettleExtent(_segments[^1]);
        bool isChanged = _blank.Count > 0;
        foreach (long ordinal in _blank)
        {
            if (!HasZeroHeader(ordinal))
                // Most likely the torn header of a segment that was about to begin.
                Keep(PathOf(ordinal, SegmentName.Log));
            _files.Delete(PathOf(ordinal, SegmentName.Log));
        }
        long newest = _segments.Count == 0 ? 0 : _segments[^1].Header.Ordinal;
        foreach (string name in _files.List(_options.Directory))
        {
            bool stale =
                (
                    SegmentName.TryParse(name, SegmentName.Index, out long ordinal)
                    || SegmentName.TryParse(name, SegmentName.Producers, out ordinal)
                ) && (ordinal > newest || ordinal < _segments[0].Header.Ordinal);
            if (!stale)
                continue;
            _files.Delete(Path.Combine(_options.Directory, name));
            isChanged = true;
        }
        if (isChanged)
            _files.SyncDirectory(_options.Directory);
    }

    /// <summary>
    /// The last segment's page says what there is from now on: no next file, before an unused one is removed, and the
    /// length that its own has, if that lost nothing but room.
    /// </summary>
    private void SettleExtent(Segment last)
    {
        if (last.Extent.NextBytes == 0 && last.Extent.FileBytes <= last.FileBytes)
            return;
        Span<byte> part = stackalloc byte[SegmentExtent.PartSize];
        SegmentExtent.WritePart(part, 0, last.Crc);
        last.File.Write(part, SegmentExtent.NextAt);
        if (last.Extent.FileBytes != 0)
        {
            SegmentExtent.WritePart(part, last.FileBytes, last.Crc);
            last.File.Write(part, SegmentExtent.LengthAt);
        }
        last.File.Sync();
    }

    private long? LengthOf(long ordinal)
    {
        string path = PathOf(ordinal, SegmentName.Log);
        if (!_files.Exists(path))
            return null;
        using IStorageFile file = _files.Open(path, OpenMode.Read);
        return file.Length;
    }

    /// <summary>Only behind the new checkpoint: the start that was read may not have been on the disk.</summary>
    private void RemoveExpired()
    {
        foreach (long ordinal in _expired)
            _files.Delete(PathOf(ordinal, SegmentName.Log));
    }

    private bool HasZeroHeader(long ordinal)
    {
        Span<byte> page = stackalloc byte[SegmentHeader.PageSize];
        using IStorageFile file = _files.Open(PathOf(ordinal, SegmentName.Log), OpenMode.Read);
        return !page[..file.Read(page, 0)].ContainsAnyExcept((byte)0);
    }

    private uint HighestEpoch(List<(uint Epoch, long FirstOffset)>? epochs, Checkpoint? checkpoint)
    {
        uint highest = Math.Max(checkpoint?.Epoch ?? 0, epochs is { Count: > 0 } ? epochs[^1].Epoch : 0);
        foreach (Segment segment in _segments)
            highest = Math.Max(highest, segment.Header.Epoch);
        return highest;
    }

    private List<(uint Epoch, long FirstOffset)> RaiseEpoch(
        List<(uint Epoch, long FirstOffset)>? epochs,
        uint highest,
        bool clean,
        long firstOffset
    )
    {
        if (clean && epochs is { Count: > 0 } && epochs[^1].Epoch == highest)
            return epochs;
        if (epochs is not { Count: > 0 })
            epochs = FindEpochs();
        else if (epochs[^1].Epoch < highest)
            // An older copy, or the disk was full when the last one began: the batches know what it lacks.
            epochs.AddRange(FindEpochs().Where(found => found.Epoch > epochs[^1].Epoch).ToArray());
        epochs.Add((highest + 1, firstOffset));
        try
        {
            EpochFile.Write(_files, _options.Directory, epochs);
        }
        catch (IOException error) when (StorageIOException.IsDiskFull(error))
        {
            // Reads go on. Only an append needs the entry of its epoch, and waits for it.
            _isEpochKept = false;
        }
        return epochs;
    }

    /// <summary>What the file said of the epochs whose batches are still there: every batch has its epoch.</summary>
    private List<(uint Epoch, long FirstOffset)> FindEpochs()
    {
        var finder = new EpochFinder();
        foreach (Segment segment in _segments)
        {
            BatchScan.Run(
                new FileWindow(segment.File, WalkBytes),
                segment,
                StartOf(segment),
                segment.EndPosition,
                payloads: false,
                finder
            );
        }

        return finder.Epochs;
    }

    /// <summary>Hands the newest usable snapshot, and every header behind it, to the visitor.</summary>
    private void WalkProducers(IRecoveredBatchVisitor visitor, LogEnd end)
    {
        int first = 0;
        long from = long.MinValue;
        for (int i = _segments.Count - 1; i >= 0; i--)
        {
            string path = PathOf(_segments[i].Header.Ordinal, SegmentName.Producers);
            Segment at = _segments[i];
            ProducerSnapshotFile? snapshot = null;
            DerivedFile.Try(path, () => snapshot = ProducerSnapshotFile.Read(_files, path, at), NoteRefused);
            if (snapshot is null || snapshot.Position > _segments[i].EndPosition)
                continue;
            visitor.OnSnapshot(snapshot.Snapshot);
            (first, from) = (i, snapshot.Position);
            break;
        }
        for (int i = first; i < _segments.Count; i++)
        {
            Segment segment = _segments[i];
            var behind = new VisitorBehind(visitor, from, segment, _damagedPositions);
            LogEnd reached = BatchScan.Run(
                new FileWindow(segment.File, WalkBytes),
                segment,
                StartOf(segment),
                segment.EndPosition,
                payloads: false,
                behind
            );
            if (reached.Position != segment.EndPosition)
            {
                Keep(segment.Path);
                throw Corrupt(
                    segment.Header.Ordinal,
                    segment.FilePosition(reached.Position),
                    reached.Offset,
                    end.Offset - 1,
                    "a batch header is not valid"
                );
            }
        }
    }

    private static LogEnd StartOf(Segment segment) =>
        new(segment.BasePosition, segment.BaseOffset, segment.Header.PreviousTime, segment.Header.Ordinal, segment.Crc);

    private long FirstOffsetOf(long ordinal)
    {
        long offset = 0;
        foreach (Segment segment in _segments)
        {
            if (segment.Header.Ordinal <= ordinal)
                offset = segment.BaseOffset;
        }
        return offset;
    }

    /// <summary>Copies a damaged segment aside, before anyone tries to mend it.</summary>
    private void Keep(string path)
    {
        string directory = Path.Combine(_options.Directory, Quarantine);
        _files.CreateDirectory(directory);
        CopyFile(_files, path, Path.Combine(directory, Path.GetFileName(path)));
        _files.SyncDirectory(directory);
    }

    /// <summary>Copies a file and syncs the copy, not its directory.</summary>
    public static void CopyFile(IFileSystem files, string from, string to)
    {
        using IStorageFile file = files.Open(from, OpenMode.Read);
        using IStorageFile copy = files.Open(to, OpenMode.Create);
        byte[] buffer = new byte[ScanBytes];
        int read;
        for (long position = 0; (read = file.Read(buffer, position)) > 0; position += read)
            copy.Write(buffer.AsSpan(0, read), position);
        copy.Sync();
    }

    private JournalCorruptException Corrupt(
        long ordinal,
        long position,
        long firstOffset,
        long lastOffset,
        string detail
    )
    {
        foreach (Segment segment in _segments)
            segment.Retire();
        return new JournalCorruptException(
            _options.Directory,
            SegmentName.Of(ordinal, SegmentName.Log),
            position,
            firstOffset,
            Math.Max(firstOffset, lastOffset),
            detail
        );
    }

    private string PathOf(long ordinal, string extension) =>
        Path.Combine(_options.Directory, SegmentName.Of(ordinal, extension));
}

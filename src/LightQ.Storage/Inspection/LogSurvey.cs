using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>
/// Walks all of a journal and says what it must be: which segments, which of their stretches are damaged, where it
/// ends. Changes nothing.
/// </summary>
internal sealed class LogSurvey
{
    /// <summary>Most segments that may be missing between others: each is looked for.</summary>
    private const int MostMissing = 1000;

    private const int TailBytes = 1 << 20;

    private readonly string _directory;
    private readonly IFileSystem _files;
    private readonly Action<string> _progress;
    private readonly Checkpoint? _checkpoint;
    private readonly bool _proofOnly;
    private readonly long _knownOffset;
    private readonly List<FoundSegment> _found;
    private readonly List<SurveyedSegment> _segments = [];
    private readonly List<JournalFinding> _findings = [];
    private readonly SegmentHeader _identity;
    private readonly BatchTally _tally = new();

    private LogSurvey(
        string directory,
        IFileSystem files,
        Checkpoint? checkpoint,
        List<FoundSegment> found,
        SegmentHeader identity,
        bool proofOnly,
        long knownOffset,
        Action<string> progress
    )
    {
        _directory = directory;
        _files = files;
        _checkpoint = checkpoint;
        _found = found;
        _identity = identity;
        _proofOnly = proofOnly;
        _knownOffset = knownOffset;
        _progress = progress;
    }

    /// <summary>The segments that the log must have, oldest first.</summary>
    public IReadOnlyList<SurveyedSegment> Segments => _segments;

    public IReadOnlyList<JournalFinding> Findings => _findings;

    public BatchTally Tally => _tally;

    /// <summary>Topic, incarnation and epoch, as far as a file says them.</summary>
    public SegmentHeader Identity => _identity;

    /// <summary>The newest valid checkpoint.</summary>
    public Checkpoint? Checkpoint => _checkpoint;

    public LogEnd End { get; private set; }

    /// <summary>Files that are no part of the log and in the way of it: to be set aside.</summary>
    public List<FoundSegment> Strays { get; } = [];

    /// <summary>Whether what is missing was the log's end, so that how much it was is not known for certain.</summary>
    public bool LosesEnd { get; private set; }

    /// <summary>Records that are gone with the end, where that is known; null for none.</summary>
    public RepairLoss? LostEnd { get; private set; }

    /// <summary>Why the journal must not be repaired; null when it may.</summary>
    public string? Refusal { get; private set; }

    private long LastOrdinal
    {
        get
        {
            long last = _found.FindLast(f => f.Header is not null)?.Ordinal ?? 0;
            last = Math.Max(last, _checkpoint?.Durable.Ordinal ?? 0);
            // Behind the last segment lie files that were made ahead. Each counts only if its bytes show that it was
            // used.
            foreach (FoundSegment file in _found.Where(f => f.Ordinal > last && !f.IsBlank))
            {
                if (FindProof(file) > (_checkpoint?.Durable.Offset ?? -1) || _checkpoint is null)
                    return file.Ordinal;
                Note(
                    file.Name,
                    "the header page is torn: a segment that was about to begin. The next start sets it aside."
                );
            }
            return last;
        }
    }

    private long LastOrdinalSeen =>
        Math.Max(_found.Count > 0 ? _found[^1].Ordinal : 0, _checkpoint?.Durable.Ordinal ?? 0);

    /// <summary>Surveys a journal with a checkpoint.</summary>
    public static LogSurvey OfJournal(
        string directory,
        IFileSystem files,
        Checkpoint? checkpoint,
        Guid? topicId,
        Func<uint, long>? knownBelow,
        uint epoch,
        Action<string> progress
    )
    {
        List<FoundSegment> found = FoundSegment.In(directory, files);
        SegmentHeader? first = found.Find(f => f.Header is { } h && (topicId is null || h.TopicId == topicId))?.Header;
        LogKey key = checkpoint is { Key.IsNone: false } known
            ? known.Key
            : found.FindLast(f => f.Header is { Key.IsNone: false })?.Header?.Key ?? default;
        var identity = new SegmentHeader(
            topicId ?? first?.TopicId ?? Guid.Empty,
            checkpoint?.Incarnation ?? first?.Incarnation ?? 0,
            0,
            0,
            0,
            0,
            checkpoint?.Epoch ?? 0,
            0,
            key
        );
        epoch = found.Aggregate(Math.Max(epoch, identity.Epoch), (e, f) => Math.Max(e, f.Header?.Epoch ?? 0));
        long knownOffset = knownBelow?.Invoke(epoch) ?? 0;
        var survey = new LogSurvey(
            directory,
            files,
            checkpoint,
            found,
            identity,
            proofOnly: false,
            knownOffset,
            progress
        );
        survey.Run();
        return survey;
    }

    /// <summary>Surveys one generation of a journal of records.</summary>
    public static LogSurvey OfRecords(
        string directory,
        IFileSystem files,
        FoundSegment generation,
        Action<string> progress
    )
    {
        var survey = new LogSurvey(
            directory,
            files,
            null,
            [generation],
            new SegmentHeader(Guid.Empty, 1, 0, 0, 0, 0, 0, 0, generation.Header?.Key ?? default),
            proofOnly: true,
            knownOffset: 0,
            progress
        );
        survey.Run();
        return survey;
    }

    private void Run()
    {
        SetAsideForeign();
        SetAsideExpired();
        long last = LastOrdinal;
        long first = Math.Min(_found.Count > 0 ? _found[0].Ordinal : last, last);
        if (last == 0)
        {
            End = _checkpoint?.Durable ?? default;
            CheckFirst();
            return;
        }
        if (last - first > _found.Count + MostMissing)
        {
            Refuse(
                SegmentName.Of(last, SegmentName.Log),
                $"more than {MostMissing} segments are missing in front of it; take it away if it is another journal's"
            );
            return;
        }
        CheckFront(first);
        LogEnd? end =
            first == 1 && _segments.Count == 0 ? default(LogEnd)
            : _segments.Count > 0 ? _segments[^1].End
            : null;
        for (long ordinal = first; ordinal <= last; ordinal++)
        {
            FoundSegment? file = _found.Find(f => f.Ordinal == ordinal);
            LogEnd? next =
                StartOf(ordinal + 1) ?? (_checkpoint is { } c && c.Durable.Ordinal == ordinal ? c.Durable : null);
            SegmentHeader? header = file?.Header;
            if (
                file is not null
                && header is null
                && (header = HeaderRebuild.TryFind(file, _files, _identity, end, next, isAlone: _proofOnly)) is not null
            )
            {
                Damage(
                    file.Name,
                    0,
                    -1,
                    -1,
                    "the header page is damaged; what it said follows from the batches around it"
                );
            }

            if (file is null || header is not { } known)
            {
                end = PassMissing(ordinal, last, file, end);
                if (end is null)
                    return;
                continue;
            }
            end = Walk(file, known, ordinal == last, end);
        }
        End = end ?? default;
    }

    private void SetAsideForeign()
    {
        foreach (FoundSegment file in _found.ToArray())
        {
            if (file.Refusal is { } refusal)
            {
                Refuse(file.Name, refusal);
            }
            else if (
                file.Header is { } header
                && (header.TopicId != _identity.TopicId || header.Incarnation != _identity.Incarnation)
            )
            {
                Damage(
                    file.Name,
                    0,
                    -1,
                    -1,
                    $"the segment belongs to topic {header.TopicId:N}, incarnation {header.Incarnation}, not to this "
                        + $"one"
                );
                Strays.Add(file);
                _found.Remove(file);
            }
        }
    }

    /// <summary>A power cut may bring names of expired segments back, and not all of them.</summary>
    private void SetAsideExpired()
    {
        int first = _checkpoint is { } known
            ? _found.FindLastIndex(f => f.Header is { } header && header.BaseOffset <= known.StartOffset)
            : -1;
        for (; first > 0; first--)
        {
            Note(_found[0].Name, "the segment expired; the next start removes it");
            _found.RemoveAt(0);
        }
    }

    /// <summary>There is no segment, though one had been made.</summary>
    private void CheckFirst()
    {
        FoundSegment[] cut = [.. _found.Where(f => f.FileBytes < SegmentExtent.LeastFileBytes)];
        bool isGone = _checkpoint is { Clean: false } unclean && (_found.Count == 0 ? unclean.IsBegun : cut.Length > 0);
        if (!isGone && _knownOffset <= End.Offset)
            return;
        string name = SegmentName.Of(1, SegmentName.Log);
        Damage(
            name,
            0,
            End.Offset,
            Math.Max(End.Offset, _knownOffset - 1),
            "the segment had been made and is gone, or cut"
        );
        Strays.AddRange(cut);
        LosesEnd = true;
    }

    /// <summary>Segments below the first that is there, though the log begins in them.</summary>
    private void CheckFront(long first)
    {
        if (
            _checkpoint is not { } checkpoint
            || StartOf(first) is not { } start
            || checkpoint.StartOffset >= start.Offset
            || first <= 1
        )
        {
            return;
        }

        var begin = new LogEnd(start.Position - BatchLayout.HeaderSize, checkpoint.StartOffset, 0, first - 1, 0);
        Damage(
            SegmentName.Of(first - 1, SegmentName.Log),
            0,
            checkpoint.StartOffset,
            start.Offset - 1,
            "the segment is missing"
        );
        AddMissing(first - 1, begin, start);
    }

    private LogEnd Walk(FoundSegment file, SegmentHeader header, bool isLast, LogEnd? before)
    {
        _progress(file.Name);
        Segment segment = file.Open(_files, header);
        try
        {
            segment.Index = new SegmentIndex(segment.BasePosition, segment.FileBytes);
            var walk = new LogWalk(segment, _tally);
            var start = new LogEnd(
                segment.BasePosition,
                segment.BaseOffset,
                Math.Max(header.PreviousTime, before?.AppendTime ?? 0),
                header.Ordinal,
                segment.Crc
            );
            LogEnd end =
                isLast ? WalkLast(walk, segment, start)
                : StartOf(header.Ordinal + 1) is { } next ? walk.RunTo(start, next)
                : walk.RunToEnd(start, NextKnownOffset(header.Ordinal), static _ => true);
            end = end with { Ordinal = header.Ordinal };
            foreach (LogHole hole in walk.Holes.Where(h => h.NextCrc is not null))
            {
                Damage(
                    file.Name,
                    segment.FilePosition(hole.Start.Position),
                    hole.Start.Offset,
                    hole.NextOffset - 1,
                    $"{hole.Bytes:N0} bytes hold no valid batch"
                );
            }

            foreach ((long firstOffset, long lastOffset, long position) in _tally.Gaps)
            {
                Add(
                    new JournalFinding(
                        FindingKind.Note,
                        file.Name,
                        segment.FilePosition(position),
                        firstOffset,
                        lastOffset,
                        "lost: an earlier repair put a gap here"
                    )
                );
            }

            _tally.Gaps.Clear();
            DerivedFiles.Check(_directory, _files, segment, end, Add);
            _segments.Add(new SurveyedSegment(header, file, end, walk.Holes, isLast && LosesEnd));
            return end;
        }
        finally
        {
            segment.Retire();
        }
    }

    private LogEnd WalkLast(LogWalk walk, Segment segment, LogEnd start)
    {
        LogEnd at = start;
        if (
            _checkpoint is { } known
            && known.Durable.Ordinal == segment.Header.Ordinal
            && known.Durable.Position > start.Position
        )
        {
            at = walk.RunTo(start, known.Durable);
        }

        long proofBehind = _proofOnly
            ? -1
            : _found.Where(f => f.Ordinal > segment.Header.Ordinal).Select(FindProof).DefaultIfEmpty(-1).Max();
        LogTail tail = LogTail.Find(
            new FileWindow(segment.File, TailBytes),
            segment,
            at,
            _checkpoint,
            _knownOffset,
            _found.Find(f => f.Ordinal == segment.Header.Ordinal + 1)?.FileBytes,
            proofBehind
        );
        string name = Path.GetFileName(segment.Path);
        if (!tail.IsCorrupt)
        {
            LogEnd end = walk.RunTo(at, tail.End);
            if (
                !_proofOnly
                && BatchScan.TryReadHeader(
                    new FileWindow(segment.File, BatchLayout.MaxHeaderSize),
                    segment,
                    end.Position,
                    segment.Limit,
                    out BatchView torn
                )
                && torn.BaseOffset == end.Offset
            )
            {
                Add(
                    new JournalFinding(
                        FindingKind.Note,
                        name,
                        segment.FilePosition(end.Position),
                        end.Offset,
                        torn.NextOffset - 1,
                        "a torn batch: the next start cuts it. It had not been acknowledged as durable."
                    )
                );
            }

            return end;
        }
        LogEnd reached = walk.RunToEnd(at, long.MaxValue, e => e.Offset < tail.DurableOffset);
        if (tail.Loss is { } loss || tail.DurableOffset == _knownOffset)
        {
            LosesEnd = true;
            return EndAt(walk, segment, reached, tail.DurableOffset, tail.Loss);
        }
        if (reached.Offset < tail.DurableOffset)
        {
            Damage(
                name,
                segment.FilePosition(reached.Position),
                reached.Offset,
                tail.DurableOffset - 1,
                "what had been synced is missing, and nothing says where the log goes on"
            );
            Refusal ??=
                $"{name}: nothing says where the log goes on behind offset {reached.Offset - 1}; restore the file "
                + $"from a copy, or delete the topic.";
        }
        return reached;
    }

    /// <summary>
    /// The log's end is gone, and nothing follows that would have to stay where it is: a gap stands for what is known
    /// to have been there.
    /// </summary>
    private LogEnd EndAt(LogWalk walk, Segment segment, LogEnd reached, long knownOffset, string? loss)
    {
        Damage(
            Path.GetFileName(segment.Path),
            segment.FilePosition(reached.Position),
            reached.Offset,
            Math.Max(reached.Offset, knownOffset - 1),
            loss ?? "what groups have settled shows that messages behind it had been durable"
        );
        if (reached.Offset >= knownOffset)
            return reached;
        LogEnd end = reached with { Position = reached.Position + BatchLayout.HeaderSize, Offset = knownOffset };
        walk.Holes.Add(new LogHole(reached, end.Position, end.Offset, NextCrc: null));
        return end;
    }

    /// <summary>What a file without a valid header page proves to have been synced; -1 for nothing.</summary>
    private long FindProof(FoundSegment file)
    {
        using IStorageFile open = _files.Open(file.Path, OpenMode.Read);
        return TailRepair.FindProof(open, _identity with { Ordinal = file.Ordinal }, SegmentHeader.PageSize, out _);
    }

    /// <summary>No segment where one must be.</summary>
    /// <returns>Where the log goes on; null when nothing follows that is known.</returns>
    private LogEnd? PassMissing(long ordinal, long last, FoundSegment? file, LogEnd? before)
    {
        if (file is not null)
            Strays.Add(file);
        string name = SegmentName.Of(ordinal, SegmentName.Log);
        string what = file is null
            ? "the segment is missing"
            : "the header page is damaged, and nothing around it says what it held";
        LogEnd? target = NextStart(ordinal, last);
        LogEnd? begin =
            before
            ?? (
                _checkpoint is { } c && target is { } t
                    ? new LogEnd(t.Position - BatchLayout.HeaderSize, c.StartOffset, 0, ordinal, 0)
                    : null
            );
        if (target is not { } to || begin is not { } start)
        {
            Damage(name, 0, before?.Offset ?? -1, (target?.Offset ?? 0) - 1, what);
            Refusal ??=
                $"{name}: nothing says where the log goes on; restore the file from a copy, or delete the topic.";
            End = before ?? default;
            return null;
        }
        // The run of missing segments shares what lies between the two places.
        long rest = to.Ordinal - ordinal;
        LogEnd end = rest <= 1 ? to : Share(start, to, rest);
        Damage(name, 0, start.Offset, end.Offset - 1, what);
        AddMissing(ordinal, start, end);
        return end with { AppendTime = start.AppendTime };
    }

    private void AddMissing(long ordinal, LogEnd begin, LogEnd to)
    {
        var header = new SegmentHeader(
            _identity.TopicId,
            _identity.Incarnation,
            ordinal,
            begin.Offset,
            begin.Position,
            begin.AppendTime,
            _identity.Epoch,
            begin.ChainCrc,
            _identity.Key
        );
        LogEnd start = begin with { Ordinal = ordinal, ChainCrc = header.Crc() };
        if (_identity.TopicId == Guid.Empty && !_proofOnly)
            Refusal ??= "No file says which topic this was.";
        if (to.Offset <= begin.Offset || to.Position - begin.Position < BatchLayout.HeaderSize)
        {
            Refusal ??=
                $"{SegmentName.Of(ordinal, SegmentName.Log)}: the segments around it contradict each other; restore "
                + $"it from a copy, or delete the topic.";
        }

        _segments.Add(
            new SurveyedSegment(
                header,
                null,
                to with
                {
                    Ordinal = ordinal,
                },
                [new LogHole(start, to.Position, to.Offset, to.ChainCrc)]
            )
        );
    }

    /// <summary>The first of several equal parts of what lies between two places.</summary>
    private static LogEnd Share(LogEnd from, LogEnd to, long parts)
    {
        long bytes = (to.Position - from.Position) / parts / BatchLayout.Alignment * BatchLayout.Alignment;
        return new LogEnd(
            from.Position + bytes,
            from.Offset + ((to.Offset - from.Offset) / parts),
            from.AppendTime,
            0,
            0
        );
    }

    /// <summary>Where a segment begins, if its header page says so: also where the one before ends.</summary>
    private LogEnd? StartOf(long ordinal) =>
        _found.Find(f => f.Ordinal == ordinal)?.Header is { } header
            ? new LogEnd(header.BasePosition, header.BaseOffset, header.PreviousTime, ordinal, header.PreviousCrc)
            : null;

    private LogEnd? NextStart(long ordinal, long last)
    {
        for (long next = ordinal + 1; next <= last; next++)
        {
            if (StartOf(next) is { } start)
                return start;
        }
        return _checkpoint is { } checkpoint && checkpoint.Durable.Ordinal == last
            ? checkpoint.Durable with
            {
                Ordinal = last + 1,
            }
            : null;
    }

    private long NextKnownOffset(long ordinal) =>
        NextStart(ordinal, LastOrdinalSeen) is { } next ? next.Offset : long.MaxValue;

    /// <summary>Says that a journal of records had been longer, or another one.</summary>
    public void LoseEnd(long notedOffset, string detail)
    {
        string name = _segments.Count > 0 ? _segments[^1].Name : _found[^1].Name;
        long first = Math.Max(0, Math.Min(End.Offset, notedOffset - 1)),
            last = Math.Max(first, notedOffset - 1);
        LosesEnd = true;
        LostEnd = new RepairLoss(name, first, last, 0);
        Damage(name, 0, first, last, detail);
    }

    /// <summary>Says that a file must not be touched.</summary>
    public void Refuse(string file, string reason)
    {
        Refusal ??= $"{file}: {reason}";
        Damage(file, 0, -1, -1, reason);
    }

    private void Note(string file, string detail) => Add(new JournalFinding(FindingKind.Note, file, 0, -1, -1, detail));

    private void Damage(string file, long position, long firstOffset, long lastOffset, string detail) =>
        Add(new JournalFinding(FindingKind.Damage, file, position, firstOffset, lastOffset, detail));

    private void Add(JournalFinding finding) => _findings.Add(finding);
}

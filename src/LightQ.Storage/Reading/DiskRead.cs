using LightQ.Protocol.Batches;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage.Reading;

/// <summary>
/// One read from the disk for one reader: posted, executed on a reader thread, verified, handed back.
/// </summary>
/// <remarks>The reader owns it while it is idle or done, the thread while it is posted.</remarks>
internal sealed class DiskRead(LogState log, CatchUpThreads threads, Action onReady)
{
    private const int SearchBytes = 64 * 1024;

    private const int Idle = 0;
    private const int Posted = 1;
    private const int Awaited = 2;
    private const int Done = 3;
    private const int Abandoned = 4;

    private readonly LogState _log = log;
    private readonly CatchUpThreads _threads = threads;
    private readonly Action _onReady = onReady;
    private ReadTarget _target;
    private ReadBuffer? _buffer;
    private int _state;

    /// <summary>What it brought, once done.</summary>
    public DiskReadKind Kind { get; private set; }

    /// <summary>Verified bytes in the buffer.</summary>
    public int Length { get; private set; }

    /// <summary>Where the run begins.</summary>
    public ReadTarget Found { get; private set; }

    /// <summary>Where reading goes on behind what it brought.</summary>
    public ReadTarget Next { get; private set; }

    /// <summary>The gap, when it is one.</summary>
    public LogGap Gap { get; private set; }

    /// <summary>The error, when it failed.</summary>
    public IOException? Error { get; private set; }

    public bool IsIdle => Volatile.Read(ref _state) == Idle;

    public ReadOnlyMemory<byte> Bytes => _buffer!.Bytes.AsMemory(0, Length);

    /// <summary>Posts it.</summary>
    /// <param name="target">What to read.</param>
    /// <param name="awaited">Whether the reader is to be called when it is done; else it asks.</param>
    public void Post(ReadTarget target, bool awaited)
    {
        _target = target;
        Volatile.Write(ref _state, awaited ? Awaited : Posted);
        _threads.Enqueue(this);
    }

    /// <summary>Whether it is done; if not, the reader will be called.</summary>
    public bool IsDoneOrAwait() =>
        Volatile.Read(ref _state) == Done || (Interlocked.CompareExchange(ref _state, Awaited, Posted) == Done);

    /// <summary>Gives the buffer back, so that it can be posted again.</summary>
    public void Reset()
    {
        ReturnBuffer();
        Volatile.Write(ref _state, Idle);
    }

    /// <summary>The reader forgets it, posted or not.</summary>
    public void Abandon()
    {
        if (Interlocked.Exchange(ref _state, Abandoned) is Idle or Done)
            ReturnBuffer();
    }

    /// <summary>On a reader thread.</summary>
    /// <returns>False when there is no buffer to be had now.</returns>
    public bool Execute()
    {
        try
        {
            if (Volatile.Read(ref _state) != Abandoned && !_log.Closed && !TryRead())
                return false;
        }
        catch (IOException error)
        {
            (Kind, Error) = (DiskReadKind.Failed, error);
        }
        while (true)
        {
            int seen = Volatile.Read(ref _state);
            if (seen == Abandoned)
            {
                ReturnBuffer();
                return true;
            }
            if (Interlocked.CompareExchange(ref _state, Done, seen) != seen)
                continue;
            if (seen == Awaited)
                _onReady();
            return true;
        }
    }

    private bool TryRead()
    {
        ReadTarget target = _target.Position < 0 ? PositionLookup.Locate(_log, _target) : _target;
        LogEnd readable = _log.Readable.Read();
        (Kind, Found, Next) = (DiskReadKind.Located, target, target);
        if (target.Position < 0 || target.Position >= readable.Position || target.Offset < _log.StartOffset)
            return true;
        Segment? segment = _log.Segments.FindPosition(target.Position);
        if (segment is null || !segment.TryAcquire())
            return true; // Retention removed it meanwhile: the reader sees the new start.
        try
        {
            return TryRead(segment, target, Math.Min(readable.Position, segment.EndPosition));
        }
        finally
        {
            segment.Release();
        }
    }

    private bool TryRead(Segment segment, ReadTarget target, long limit)
    {
        int bytes = 0;
        while (true)
        {
            if (!_threads.Pool.TryRent(bytes, out _buffer))
                return false;
            byte[] buffer = _buffer!.Bytes;
            int read = segment.File.Read(
                buffer.AsSpan(0, (int)Math.Min(buffer.Length, limit - target.Position)),
                segment.FilePosition(target.Position)
            );
            int needed = Verify(buffer.AsSpan(0, read), segment, target, limit);
            if (Length > 0)
            {
                Kind = DiskReadKind.Run;
                return true;
            }
            ReturnBuffer();
            if (needed <= buffer.Length)
            {
                FindBehindDamage(segment, target, limit);
                return true;
            }
            bytes = needed;
        }
    }

    /// <summary>Counts the whole and valid batches at the front of the buffer.</summary>
    /// <returns>When there is none: the first batch's length if only the buffer is too short for it, else 0.</returns>
    private int Verify(ReadOnlySpan<byte> bytes, Segment segment, ReadTarget target, long limit)
    {
        Length = 0;
        int at = 0;
        long expected = -1;
        uint? chain = target.Position == segment.BasePosition ? segment.Crc : target.ChainCrc;
        while (at < bytes.Length)
        {
            ReadOnlySpan<byte> rest = bytes[at..];
            if (
                !BatchScan.IsHeader(
                    rest[..Math.Min(rest.Length, BatchLayout.MaxHeaderSize)],
                    limit - target.Position - at,
                    out BatchView header
                )
            )
            {
                break;
            }

            bool inOrder =
                expected < 0
                    ? header.BaseOffset <= target.Offset && target.Offset < header.NextOffset
                    : header.BaseOffset == expected;
            if (!inOrder || (chain ?? header.PreviousCrc) != header.PreviousCrc)
                // Valid, but not what was written here: a write that went to a wrong place, or one that never arrived.
                break;
            if (header.Kind == BatchKind.Gap)
                break;
            if (header.Length > rest.Length)
                return header.Length;
            if (!BatchScan.IsPayload(rest[header.HeaderLength..header.Length], header.PayloadCrc))
                break;
            expected = header.NextOffset;
            chain = header.HeaderCrc;
            at += header.Length;
            Length = at;
            Next = new ReadTarget(expected, target.Position + at, ChainCrc: chain);
        }
        return 0;
    }

    /// <summary>
    /// The batch at the target is damaged, or a gap that a repair left: finds the next place that is known, and says
    /// what is lost up to there.
    /// </summary>
    private void FindBehindDamage(Segment segment, ReadTarget target, long limit)
    {
        ReadTarget next;
        bool isRepaired = false;
        var window = new FileWindow(segment.File, SearchBytes);
        if (
            BatchScan.TryReadHeader(window, segment, target.Position, limit, out BatchView header)
            && header.NextOffset > target.Offset
            && header.BaseOffset <= target.Offset
        )
        {
            (next, isRepaired) = (
                new ReadTarget(header.NextOffset, target.Position + header.Length),
                header.Kind == BatchKind.Gap
            );
        }
        else
        {
            next = FindBehindHeader(window, segment, target, limit);
        }

        Kind = DiskReadKind.Gap;
        Gap = new LogGap(target.Offset, next.Offset - 1, GapReason.Corrupt);
        Next = next;
        if (!isRepaired)
            _log.Suspect(segment, Gap);
    }

    /// <summary>
    /// Where reading goes on when not even the header says it: at the next batch up to the index's next entry, at that,
    /// or at the segment's end.
    /// </summary>
    private ReadTarget FindBehindHeader(FileWindow window, Segment segment, ReadTarget target, long limit)
    {
        bool isIndexed =
            PositionLookup.EnsureIndex(_log, segment).TryFindBehind(target.Position, out SegmentIndexEntry entry)
            && entry.Position < limit
            && entry.Offset > target.Offset;
        LogEnd readable = _log.Readable.Read();
        var known = new ReadTarget(readable.Offset, readable.Position);
        if (isIndexed)
            known = new ReadTarget(entry.Offset, entry.Position);
        else if (_log.Segments.Next(segment) is { } behind && behind.BasePosition <= readable.Position)
            known = new ReadTarget(behind.BaseOffset, behind.BasePosition);
        var at = new LogEnd(target.Position, target.Offset, 0, segment.Header.Ordinal, 0);
        return BatchSearch.TryFind(window, segment, at, Math.Min(limit, known.Position), known.Offset, out LogEnd found)
            ? new ReadTarget(found.Offset, found.Position)
            : known;
    }

    private void ReturnBuffer()
    {
        if (_buffer is not { } buffer)
            return;
        _buffer = null;
        _threads.Return(buffer);
    }
}

using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Reading;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage;

/// <summary>
/// Reads a journal from a place on: recent data in place from the mapping, older data through the reader threads.
/// </summary>
/// <remarks>
/// One thread at a time; only the callback comes from another. Between two runs a reader holds nothing but, when it
/// reads old data, a pooled buffer or two: it never keeps a segment, and one that is overtaken by retention gets a gap.
/// </remarks>
/// <example>
/// <code>
/// var reader = new JournalReader(journal, onReady: wake);
/// reader.SeekToOffset(offset);
/// while (reader.TryRead(256 * 1024, out LogRun run) == ReadResult.Run)
/// {
///     send(run.Memory);
///     reader.Advance();
/// }
/// </code>
/// </example>
public sealed class JournalReader : IDisposable
{
    private readonly LogState _log;
    private readonly Action _onReady;
    private ReadTarget _next;
    private DiskRead? _current;
    private DiskRead? _ahead;
    private int _currentAt;
    private Segment? _held;
    private LogRun _run;
    private LogGap? _lost;
    private bool _inFlight;
    private bool _disposed;

    /// <summary>Makes a reader at the first offset.</summary>
    /// <param name="journal">What to read.</param>
    /// <param name="onReady">
    /// Called from a reader thread after <see cref="ReadResult.Pending"/>: try again. Must not block.
    /// </param>
    public JournalReader(Journal journal, Action onReady)
    {
        ArgumentNullException.ThrowIfNull(journal);
        ArgumentNullException.ThrowIfNull(onReady);
        Journal = journal;
        _log = journal.Log;
        _onReady = onReady;
        _next = new ReadTarget(journal.StartOffset);
    }

    /// <summary>The journal.</summary>
    public Journal Journal { get; }

    /// <summary>The offset that comes next; -1 while a time is being sought.</summary>
    public long NextOffset =>
        _lost is { } lost ? lost.FirstOffset
        : _next.Time >= 0 ? -1
        : _next.Offset;

    /// <summary>The gap, after <see cref="ReadResult.Gap"/>.</summary>
    public LogGap Gap { get; private set; }

    /// <summary>The error, after <see cref="ReadResult.Failed"/>.</summary>
    public IOException? Error { get; private set; }

    /// <summary>
    /// Goes to an offset. One below the start gives a gap first; at one beyond the end the reader waits.
    /// </summary>
    public void SeekToOffset(long offset)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        Seek(new ReadTarget(offset));
    }

    /// <summary>Goes to the first offset that can be read.</summary>
    public void SeekToStart() => Seek(new ReadTarget(_log.StartOffset));

    /// <summary>Goes to the readable end.</summary>
    public void SeekToEnd()
    {
        LogEnd end = _log.Readable.Read();
        Seek(new ReadTarget(end.Offset, end.Position));
    }

    /// <summary>
    /// Goes to the first batch appended at a time (unix microseconds) or later, or to the end when there is none.
    /// </summary>
    public void SeekToTime(long appendTime) => Seek(new ReadTarget(_log.StartOffset, Time: Math.Max(0, appendTime)));

    /// <summary>Gets the next run of whole batches. Never blocks on the disk.</summary>
    /// <param name="maxBytes">The most to get; a longer batch still comes, alone.</param>
    /// <param name="run">The run, valid until <see cref="Advance"/> or <see cref="Release"/>.</param>
    /// <exception cref="InvalidOperationException">The run before was not given back.</exception>
    public ReadResult TryRead(int maxBytes, out LogRun run)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (_inFlight)
            throw new InvalidOperationException("The run before must be advanced over or released first.");
        while (true)
        {
            ReadResult? result =
                _log.Closed ? ReadResult.Closed
                : _current is { IsIdle: false } ? TryTakeFromDisk(maxBytes)
                : TryReadTail(maxBytes);
            if (result is not { } known || (known == ReadResult.Gap && IsGathered()))
                continue;
            if (known is not (ReadResult.Pending or ReadResult.Gap) && _lost is { } lost)
            {
                // The next read finds again what is behind the gap.
                ReleaseHeld();
                (Gap, _lost, known) = (lost, null, ReadResult.Gap);
            }
            run = known == ReadResult.Run ? _run : default;
            _inFlight = known == ReadResult.Run;
            return known;
        }
    }

    /// <summary>Goes behind the run and gives it back.</summary>
    public void Advance()
    {
        if (!_inFlight)
            throw new InvalidOperationException("There is no run to advance over.");
        _inFlight = false;
        _next = new ReadTarget(_run.NextOffset, _next.Position + _run.Length);
        if (_held is not null)
        {
            ReleaseHeld();
            return;
        }
        _currentAt += _run.Length;
        if (_currentAt < _current!.Length)
            return;
        _next = _current.Next; // The same place, and what the batch there must refer to.
        _current.Reset();
        _currentAt = 0;
        if (_ahead is { IsIdle: false })
            (_current, _ahead) = (_ahead, _current);
    }

    /// <summary>Gives the run back without going on: the next read gives it again.</summary>
    public void Release()
    {
        if (!_inFlight)
            throw new InvalidOperationException("There is no run to release.");
        _inFlight = false;
        ReleaseHeld();
    }

    /// <summary>Gives everything back.</summary>
    public void Dispose()
    {
        if (_disposed)
            return;
        _disposed = true;
        Drop();
    }

    private void Seek(ReadTarget target)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (_inFlight)
            throw new InvalidOperationException("The run before must be advanced over or released first.");
        Drop();
        _next = target;
    }

    private void Drop()
    {
        _inFlight = false;
        _lost = null;
        ReleaseHeld();
        _current?.Abandon();
        _ahead?.Abandon();
        (_current, _ahead, _currentAt) = (null, null, 0);
    }

    private void ReleaseHeld()
    {
        _held?.Release();
        _held = null;
    }

    /// <summary>Null: try again.</summary>
    private ReadResult? TryReadTail(int maxBytes)
    {
        if (_next.Time < 0 && _next.Offset < _log.StartOffset)
        {
            return TakeGap(
                new LogGap(_next.Offset, _log.StartOffset - 1, GapReason.Retention),
                new ReadTarget(_log.StartOffset)
            );
        }

        LogEnd readable = _log.Readable.Read();
        if (_next.Position >= readable.Position || (_next.Time < 0 && _next.Offset >= readable.Offset))
        {
            if (_next.Offset == readable.Offset && _next.Position < 0)
                _next = new ReadTarget(readable.Offset, readable.Position);
            return ReadResult.AtEnd;
        }
        long hot = _log.TailStart(Journal.TailBytes);
        if (_next.Position < 0)
            _next = LocateInTail(hot, readable.Position);
        if (_next.Position < hot)
            return PostRead();

        Segment? segment = _log.Segments.FindPosition(_next.Position);
        if (segment is null || !segment.TryAcquire())
            return null;
        if (segment.Mapping is { } mapping && TryTakeMapped(segment, mapping, readable, maxBytes))
        {
            _held = segment;
            return ReadResult.Run;
        }
        segment.Release();
        return PostRead();
    }

    /// <summary>The target with its position, if that is in the tail; unchanged otherwise.</summary>
    private ReadTarget LocateInTail(long hot, long limit)
    {
        if (
            _next.Time >= 0
            || _log.Segments.FindOffset(_next.Offset) is not { Index: { } index } segment
            || !index.TryFindOffset(_next.Offset, out SegmentIndexEntry entry)
        )
        {
            return _next;
        }

        if (entry.Position < hot || !segment.TryAcquire())
            return _next;
        try
        {
            if (segment.Mapping is not { } mapping)
                return _next;
            long end = Math.Min(limit, segment.EndPosition);
            for (long position = entry.Position; position < end; )
            {
                ReadOnlySpan<byte> rest = mapping
                    .GetSpan()
                    .Slice((int)segment.FilePosition(position), (int)(end - position));
                if (!BatchScan.TryReadHeader(rest, out BatchView batch))
                    return _next; // A reader thread looks for it, and for what follows the damage.
                if (batch.NextOffset > _next.Offset)
                    return new ReadTarget(_next.Offset, position);
                position += batch.Length;
            }
            return _next;
        }
        finally
        {
            segment.Release();
        }
    }

    private bool TryTakeMapped(Segment segment, FileMapping mapping, in LogEnd readable, int maxBytes)
    {
        int available = (int)(Math.Min(readable.Position, segment.EndPosition) - _next.Position);
        int start = (int)segment.FilePosition(_next.Position);
        ReadOnlyMemory<byte> memory = mapping.Memory.Slice(start, available);
        return TryTake(memory, maxBytes, verify: segment != _log.Segments.Last);
    }

    /// <summary>Takes whole batches, as many as fit.</summary>
    /// <remarks>
    /// What comes through a read has been verified by the reader thread. In the mapping, the segment that is written to
    /// is taken as it is: this process has just put its pages there, and readers at the end pay nothing. Once it is
    /// sealed its pages may have gone to the disk and come back, so every batch is verified each time: 64 KiB take some
    /// 5 us. One that is not whole ends the run; when it is the first, it is read from the disk, where the gap is
    /// found.
    /// </remarks>
    private bool TryTake(ReadOnlyMemory<byte> memory, int maxBytes, bool verify)
    {
        ReadOnlySpan<byte> bytes = memory.Span;
        int length = 0;
        long first = -1,
            next = -1;
        while (bytes.Length - length >= BatchLayout.HeaderSize)
        {
            var batch = new BatchView(bytes[length..]);
            int batchLength = batch.Length;
            bool fits = batchLength >= BatchLayout.HeaderSize && batchLength <= bytes.Length - length;
            if (!fits || (length > 0 && length + batchLength > maxBytes))
                break;
            if (verify && !IsExpected(bytes.Slice(length, batchLength), next))
                break;
            first = first < 0 ? batch.BaseOffset : first;
            next = batch.NextOffset;
            length += batchLength;
        }
        _run = new LogRun(memory[..length], first, next);
        return length > 0;
    }

    /// <summary>Whether bytes are the batch that was written there.</summary>
    /// <param name="bytes">As many as the batch says.</param>
    /// <param name="expected">The offset that it must begin with; -1 for one that holds the offset sought.</param>
    private bool IsExpected(ReadOnlySpan<byte> bytes, long expected) =>
        BatchScan.TryReadHeader(bytes, out BatchView header)
        && (
            expected < 0
                ? header.BaseOffset <= _next.Offset && _next.Offset < header.NextOffset
                : header.BaseOffset == expected
        )
        && BatchScan.IsPayload(bytes[header.HeaderLength..], header.PayloadCrc);

    private ReadResult PostRead()
    {
        _current ??= new DiskRead(_log, Journal.Disk, _onReady);
        _currentAt = 0;
        _current.Post(_next, awaited: true);
        return ReadResult.Pending;
    }

    private ReadResult? TryTakeFromDisk(int maxBytes)
    {
        DiskRead read = _current!;
        if (!read.IsDoneOrAwait())
            return ReadResult.Pending;
        switch (read.Kind)
        {
            case DiskReadKind.Run:
                if (_currentAt == 0)
                    _next = read.Found;
                if (!TryTake(read.Bytes[_currentAt..], maxBytes, verify: false))
                    throw new InvalidOperationException("A verified run holds no batch.");
                if (_currentAt + _run.Length == read.Length)
                    ReadAhead(read.Next);
                return ReadResult.Run;
            case DiskReadKind.Gap:
                LogGap gap = read.Gap;
                ReadTarget behind = read.Next;
                read.Reset();
                return TakeGap(gap, behind);
            case DiskReadKind.Failed:
                Error = read.Error;
                read.Reset();
                return ReadResult.Failed;
            default:
                _next = read.Next;
                read.Reset();
                return null;
        }
    }

    /// <summary>While the last of a buffer is being sent, the next one is read.</summary>
    private void ReadAhead(ReadTarget next)
    {
        bool cold = next.Position < _log.TailStart(Journal.TailBytes);
        if (
            !cold
            || next.Position >= _log.Readable.Position
            || _ahead is { IsIdle: false }
            || Journal.Disk.Pool.IsShort
        )
        {
            return;
        }

        _ahead ??= new DiskRead(_log, Journal.Disk, _onReady);
        _ahead.Post(next, awaited: false);
    }

    /// <summary>Goes behind the gap.</summary>
    private ReadResult? TakeGap(LogGap gap, ReadTarget behind)
    {
        Gap = gap;
        _next = behind;
        return Mutation.SkipGap ? null : ReadResult.Gap;
    }

    /// <summary>Lost batches next to each other are one gap, also where the next buffer or segment begins.</summary>
    /// <returns>Whether the gap may go on, so that it is not told yet.</returns>
    private bool IsGathered()
    {
        LogGap found = Gap;
        if (_lost is { } lost)
        {
            if (found.Reason != lost.Reason || found.FirstOffset != lost.LastOffset + 1)
            {
                (Gap, _lost) = (lost, found);
                return false;
            }
            found = found with { FirstOffset = lost.FirstOffset };
        }
        _lost = found.Reason == GapReason.Corrupt ? found : null;
        Gap = found;
        return _lost is not null;
    }
}

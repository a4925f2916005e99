using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using LightQ.Disruptor;
using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Writing;

/// <summary>
/// Moves batches from the ring to the disk: everything that queued up during the last sync is one write and one sync.
/// </summary>
/// <remarks>
/// Runs on one writer thread. Any error is final: it surfaces as an exception and the journal is fenced.
/// </remarks>
internal sealed class JournalWriter
{
    /// <summary>With background flushing: sync at the latest behind so many bytes.</summary>
    private const long BackgroundFlushBytes = 16 * 1024 * 1024;

    private readonly ILogHost _host;
    private readonly LogState _log;
    private readonly ByteRing _ring;
    private readonly ConcurrentQueue<SegmentRoll> _rolls;
    private readonly SegmentSource _source;
    private readonly Sequence _gate = new();
    private Segment? _segment;
    private long _ringPosition;
    private LogEnd _end;
    private long _requestAt;
    private int _flushRequested;

    public JournalWriter(
        ILogHost host,
        LogState log,
        ByteRing ring,
        ConcurrentQueue<SegmentRoll> rolls,
        SegmentSource source
    )
    {
        _host = host;
        _log = log;
        _ring = ring;
        _rolls = rolls;
        _source = source;
        _segment = log.Segments.Last;
        _end = log.Written.Read();
        _ringPosition = ring.AddGate(_gate, ring.Published);
        _requestAt = RequestPoint();
    }

    /// <summary>Whether the ring holds what is not written yet, or a flush was asked for. Any thread.</summary>
    public bool HasWork =>
        _ring.Published != Volatile.Read(ref _ringPosition) || Volatile.Read(ref _flushRequested) != 0;

    /// <summary>Asks for a sync of what is written, even without news. Any thread.</summary>
    public void RequestFlush() => Volatile.Write(ref _flushRequested, 1);

    /// <summary>Writes and syncs once.</summary>
    public WriteOutcome Commit()
    {
        _segment?.Acquire(); // From the first byte to the sync: keeps its file open meanwhile.
        try
        {
            return WriteAndSync();
        }
        finally
        {
            _segment?.Release();
        }
    }

    /// <summary>Syncs what is written.</summary>
    private void Sync()
    {
        if (Mutation.AckBeforeFsync)
        {
            _log.Durable.Write(_end);
            _host.OnCommitted(0);
        }
        if (!Mutation.NoFsync)
        {
            long begun = Stopwatch.GetTimestamp();
            _segment!.File.Sync();
            _host.OnSynced(Stopwatch.GetElapsedTime(begun));
        }
        _log.Durable.Write(_end);
    }

    private WriteOutcome WriteAndSync()
    {
        bool flush = Interlocked.Exchange(ref _flushRequested, 0) != 0;
        long published = _ring.Published;
        LogEnd before = _end;
        int budget = _log.Options.CommitBytes;
        WriteOutcome outcome = WriteOutcome.More;
        while (budget > 0 && outcome == WriteOutcome.More)
            outcome = WriteRun(published, ref budget);

        bool moved = _end.Position != before.Position;
        bool due =
            flush
            || _log.Options.Flush == Durability.Fsync
            || _end.Position - _log.Durable.Position >= BackgroundFlushBytes;
        if (moved)
        {
            _log.Written.Write(_end);
            if (due)
                _host.OnWritten();
        }
        if (due && _end.Position != _log.Durable.Position)
            Sync();
        if (moved || due)
            _host.OnCommitted(_end.Position - before.Position);
        if (_end.Position >= _requestAt)
            RequestNext();
        return outcome == WriteOutcome.Blocked ? outcome
            : _ring.Published != _ringPosition ? WriteOutcome.More
            : WriteOutcome.Drained;
    }

    private WriteOutcome WriteRun(long published, ref int budget)
    {
        long most = budget;
        if (_rolls.TryPeek(out SegmentRoll? roll))
        {
            if (roll.Header.BasePosition == _end.Position)
                return TryBegin(roll) ? WriteOutcome.More : WriteOutcome.Blocked;
            most = Math.Min(most, roll.Header.BasePosition - _end.Position);
        }
        bool found = _ring.TryGetRun(_ringPosition, published, (int)most, out RingRun run);
        if (found)
        {
            ReadOnlySpan<byte> bytes = run.Span;
            if ((_log.AtRest && !TryLeaveRest()) || !TryWrite(bytes))
                return WriteOutcome.Blocked;
            _end = Behind(bytes);
            _segment!.EndPosition = _end.Position;
            budget -= bytes.Length;
        }
        else if (run.NextPosition == _ringPosition)
        {
            return WriteOutcome.Drained;
        }
        Volatile.Write(ref _ringPosition, run.NextPosition);
        _gate.Value = run.NextPosition;
        return WriteOutcome.More;
    }

    /// <summary>Where the log ends behind a run: its last batch says the offset.</summary>
    private LogEnd Behind(ReadOnlySpan<byte> run)
    {
        int at = 0;
        while (true)
        {
            var batch = new BatchView(run[at..]);
            at += batch.Length;
            if (at == run.Length)
            {
                return new LogEnd(
                    _end.Position + at,
                    batch.NextOffset,
                    batch.AppendTime,
                    _end.Ordinal,
                    batch.HeaderCrc
                );
            }
        }
    }

    /// <summary>Seals the segment and begins the next.</summary>
    /// <returns>False when there is no space for it.</returns>
    private bool TryBegin(SegmentRoll roll)
    {
        long ordinal = roll.Header.Ordinal;
        if (!TryMake(roll, out IStorageFile? file))
        {
            _log.DiskFull = true;
            return false;
        }
        if (!_source.HasRoom(SegmentGrowth.Next(roll.FileBytes, _log.Options)))
            // Before the appender needs the next segment: batches that it accepts then would have to wait for space.
            _log.DiskFull = true;
        _ = _rolls.TryDequeue(out _);
        Segment? sealedSegment = _segment;
        _segment = new Segment(
            _log.Files,
            _log.PathOf(ordinal, SegmentName.Log),
            roll.Header,
            roll.FileBytes,
            file,
            roll.Index
        )
        {
            Owner = _host,
        };
        _end = _end with { Ordinal = ordinal, ChainCrc = _segment.Crc };
        _segment.Acquire();
        sealedSegment?.Release();
        _log.Segments.Add(_segment);
        _requestAt = RequestPoint();
        _host.OnRolled(sealedSegment, _segment, roll.Producers);
        return true;
    }

    /// <summary>Makes a segment's file, or takes the one made ahead, and begins it.</summary>
    private bool TryMake(SegmentRoll roll, [NotNullWhen(true)] out IStorageFile? file)
    {
        file = null;
        try
        {
            file = _source.Take(roll.Header.Ordinal, roll.FileBytes);
        }
        catch (IOException error) when (StorageIOException.IsDiskFull(error))
        {
            return false;
        }
        try
        {
            Begin(roll, file);
            return true;
        }
        catch (IOException error) when (StorageIOException.CanBeWrittenLater(error))
        {
            file.Dispose(); // It holds nothing yet; the next try makes it anew.
            return false;
        }
    }

    /// <summary>
    /// Notes that the file is there, under its name, and writes its header page. What is synced in between says so
    /// ahead of the file's first byte: if it is missing later, it has been taken away.
    /// </summary>
    private void Begin(SegmentRoll roll, IStorageFile file)
    {
        if (_log.AtRest)
            _host.LeaveRest();
        // The checkpoint says it of the first segment.
        if (_segment is not null)
        {
            Span<byte> part = stackalloc byte[SegmentExtent.PartSize];
            SegmentExtent.WritePart(part, roll.FileBytes, _segment.Crc);
            _segment.File.Write(part, SegmentExtent.NextAt);
            // The segment before must be on the disk before the first byte of this one: a later segment proves the
            // earlier.
            _log.Written.Write(_end);
            Sync();
        }
        Span<byte> page = stackalloc byte[SegmentHeader.PageSize];
        page.Clear();
        uint crc = roll.Header.Write(page);
        new SegmentExtent(roll.FileBytes, NextBytes: 0).Write(page, crc);
        file.Write(page, 0);
    }

    /// <returns>False when there is no space: the same bytes go to the same place when it returns.</returns>
    private bool TryWrite(ReadOnlySpan<byte> run)
    {
        try
        {
            _segment!.File.Write(run, _segment.FilePosition(_end.Position));
            return true;
        }
        catch (IOException error) when (StorageIOException.CanBeWrittenLater(error))
        {
            return false;
        }
    }

    /// <summary>Lets the checkpoint say that something follows.</summary>
    /// <returns>False when there is no space.</returns>
    private bool TryLeaveRest()
    {
        try
        {
            _host.LeaveRest();
            return true;
        }
        catch (IOException error) when (StorageIOException.CanBeWrittenLater(error))
        {
            return false;
        }
    }

    private long RequestPoint() =>
        _segment is null ? long.MaxValue : _segment.BasePosition + (_segment.FileBytes / 4 * 3);

    private void RequestNext()
    {
        _requestAt = long.MaxValue;
        _host.RequestSegment(_segment!.Header.Ordinal + 1, SegmentGrowth.Next(_segment.FileBytes, _log.Options));
    }
}

using System.Buffers;
using LightQ.Disruptor;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Logs;

/// <summary>Reads a ring: with a gate in place, without one from a copy that is checked after it was made.</summary>
internal sealed class RingLogReader : LogReader
{
    private readonly RingLog _log;
    private readonly Sequence? _gate;
    private LogCursor _cursor;
    private byte[]? _copy;

    public RingLogReader(RingLog log, Sequence? gate, LogCursor cursor)
    {
        _log = log;
        _gate = gate;
        _cursor = cursor;
    }

    public override LogCursor Cursor => _cursor;

    public override ReadResult TryRead(int maxBytes, out LentRun run, out LogGap gap) =>
        _gate is null ? TryCopy(maxBytes, out run, out gap) : TryReadHeld(maxBytes, out run, out gap);

    public override void MoveTo(in LogCursor cursor)
    {
        GiveBack();
        _cursor = cursor;
        _gate?.SetFenced(cursor.Position);
    }

    public override void Park()
    {
        GiveBack();
        _gate?.SetFenced(long.MaxValue);
    }

    public override void Dispose()
    {
        GiveBack();
        if (_gate is not null)
            _log.Ring.RemoveGate(_gate);
    }

    private ReadResult TryReadHeld(int maxBytes, out LentRun run, out LogGap gap)
    {
        gap = default;
        if (!_log.Ring.TryGetRun(_cursor.Position, maxBytes, out RingRun found))
        {
            run = default;
            if (found.NextPosition != _cursor.Position)
                MoveTo(_cursor with { Position = found.NextPosition }); // Do not hold the padding at the end of a lap.
            return ReadResult.AtEnd;
        }
        run = new LentRun(found.Memory, _cursor, new LogCursor(EndOffset(found.Span), found.NextPosition));
        return ReadResult.Run;
    }

    private ReadResult TryCopy(int maxBytes, out LentRun run, out LogGap gap)
    {
        run = default;
        gap = default;
        GiveBack();
        if (!_log.Ring.IsIntact(_cursor.Position))
            return SkipOverwritten(out gap);
        if (!_log.Ring.TryGetRun(_cursor.Position, maxBytes, out RingRun found))
            return _log.Ring.IsIntact(_cursor.Position) ? ReadResult.AtEnd : SkipOverwritten(out gap);
        byte[] copy = ArrayPool<byte>.Shared.Rent(found.Length);
        found.Span.CopyTo(copy);
        if (!_log.Ring.IsIntact(_cursor.Position))
        {
            ArrayPool<byte>.Shared.Return(copy);
            return SkipOverwritten(out gap);
        }
        _copy = copy;
        run = new LentRun(
            copy.AsMemory(0, found.Length),
            _cursor,
            new LogCursor(EndOffset(copy.AsSpan(0, found.Length)), found.NextPosition)
        );
        return ReadResult.Run;
    }

    private ReadResult SkipOverwritten(out LogGap gap)
    {
        long expected = _cursor.Offset;
        using (var oldest = (RingLogReader)_log.OpenReader(StartKind.Earliest, 0, holds: false, static () => { }))
            _cursor = oldest.Cursor;
        gap = new LogGap(expected, _cursor.Offset - 1, GapReason.Dropped);
        return gap.LastOffset >= gap.FirstOffset ? ReadResult.Gap : ReadResult.AtEnd;
    }

    private void GiveBack()
    {
        if (_copy is null)
            return;
        ArrayPool<byte>.Shared.Return(_copy);
        _copy = null;
    }

    private static long EndOffset(ReadOnlySpan<byte> run)
    {
        long end = 0;
        foreach (BatchView batch in new BatchRun(run))
            end = batch.NextOffset;
        return end;
    }
}

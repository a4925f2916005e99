using System.Buffers;
using LightQ.Broker.Streams;
using LightQ.Disruptor;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Storage;

namespace LightQ.Broker.Logs;

/// <summary>
/// Reads a ring for a subscription that no producer waits for: when the ring needs the room of what was not read, the
/// reader makes it at once.
/// </summary>
/// <remarks>
/// Its gate is a reminder, not a hold: a claim that fails because of it has the reader <see cref="Yield"/> and is tried
/// again. What the reader hands out are copies, so that a socket which takes its time holds nothing. It copies without
/// its lock and looks afterwards whether it has yielded meanwhile.
/// </remarks>
internal abstract class YieldingReader : LogReader
{
    private readonly Lock _lock = new();
    private readonly RingLog _log;
    private readonly Sequence _gate = new();
    private readonly Action<StreamClose> _end;
    private LogCursor _held;
    private LogCursor _next;
    private byte[]? _copy;
    private bool _hasEnded;

    /// <param name="log">The ring; <see cref="RingLog.Open"/> puts the reader on it.</param>
    /// <param name="end">Ends the subscription; called from any thread, and must return at once.</param>
    protected YieldingReader(RingLog log, Action<StreamClose> end)
    {
        _log = log;
        _end = end;
    }

    /// <inheritdoc/>
    public override LogCursor Cursor => _next;

    /// <summary>Bytes kept outside the ring.</summary>
    public virtual long KeptBytes => 0;

    internal Sequence Gate => _gate;

    /// <summary>What was not read begins here, or behind what was kept elsewhere. Guarded by the lock.</summary>
    protected LogCursor Held => _held;

    /// <summary>Where reading in the ring ends; null at its end. Guarded by the lock.</summary>
    protected LogCursor? Bound { get; set; }

    /// <summary>The offset behind everything that was appended. For the appending thread.</summary>
    protected LogCursor RingEnd => new(_log.EndOffset, _log.Ring.Published);

    /// <inheritdoc/>
    public override ReadResult TryRead(int maxBytes, out LentRun run, out LogGap gap)
    {
        GiveBack();
        while (true)
        {
            (run, gap) = (default, default);
            LogCursor from;
            long end;
            bool isAtBound;
            lock (_lock)
            {
                if (_hasEnded)
                    return ReadResult.AtEnd;
                ReadResult kept = TryReadKept(out LogRun found, out gap);
                if (kept != ReadResult.AtEnd)
                {
                    if (kept == ReadResult.Gap)
                        _next = new LogCursor(gap.LastOffset + 1, -1);
                    return kept == ReadResult.Run ? Lend(found, out run) : kept;
                }
                from = _held;
                end = Math.Min(Bound?.Position ?? long.MaxValue, _log.Ring.Published);
                isAtBound = from.Position >= Bound?.Position;
            }
            if (isAtBound)
            {
                if (SkipDropped(out gap))
                    return ReadResult.Gap;
            }
            else if (TryCopy(from, end, maxBytes, out run) is { } result)
            {
                return result;
            }
        }
    }

    /// <summary>The copy was handed out with the read; there is no place to go to.</summary>
    public override void MoveTo(in LogCursor cursor) => GiveBack();

    /// <inheritdoc/>
    public override void Park() => GiveBack();

    /// <inheritdoc/>
    public override void Dispose()
    {
        _log.Close(this);
        GiveBack();
        lock (_lock)
        {
            _hasEnded = true;
            DropKept();
        }
    }

    /// <summary>Puts the reader in its place. The caller holds the append lock.</summary>
    internal void Start(in LogCursor cursor)
    {
        lock (_lock)
        {
            (_held, _next) = (cursor, cursor);
            _gate.SetFenced(cursor.Position);
        }
    }

    /// <summary>
    /// A claim needs the ring's room before <paramref name="position"/>. The caller holds the append lock, and appends
    /// after this.
    /// </summary>
    internal void Yield(long position)
    {
        lock (_lock)
        {
            if (!_hasEnded && _held.Position < position)
                MakeRoom(position);
        }
    }

    /// <summary>Goes to the ring's end, past what was dropped. The caller holds the append lock.</summary>
    /// <returns>Where reading stood.</returns>
    internal LogCursor SkipTo(in LogCursor end)
    {
        lock (_lock)
        {
            LogCursor from = _held;
            Bound = null;
            Hold(end);
            return from;
        }
    }

    /// <summary>
    /// Sees that nothing before <paramref name="position"/> is held any more. The caller holds append lock and lock.
    /// </summary>
    protected abstract void MakeRoom(long position);

    /// <summary>
    /// Takes the oldest run that was kept outside the ring, or the gap that is left of it. The caller holds the lock.
    /// </summary>
    protected virtual ReadResult TryReadKept(out LogRun run, out LogGap gap)
    {
        (run, gap) = (default, default);
        return ReadResult.AtEnd;
    }

    /// <summary>Gives back the run that <see cref="TryReadKept"/> gave.</summary>
    protected virtual void ReleaseKept() { }

    /// <summary>Lets go of everything kept outside the ring. The caller holds the lock.</summary>
    protected virtual void DropKept() { }

    /// <summary>
    /// Keeps a copy of the run at <see cref="Held"/> outside the ring. The caller holds append lock and lock.
    /// </summary>
    /// <returns>False if it cannot.</returns>
    protected virtual bool TryKeep(in RingRun run, long nextOffset) => false;

    /// <summary>
    /// Keeps what lies before <paramref name="position"/>, run by run. The caller holds append lock and lock.
    /// </summary>
    protected void Evacuate(long position)
    {
        int runBytes = Math.Min(ProtocolLimits.DeliverRunBytes, _log.Ring.Capacity / 4);
        while (_held.Position < position && !_hasEnded)
        {
            long end = Math.Min(Bound?.Position ?? long.MaxValue, _log.Ring.Published);
            if (!_log.Ring.TryGetRun(_held.Position, end, runBytes, out RingRun run))
            {
                Hold(_held with { Position = run.NextPosition }); // Padding.
                return;
            }
            long nextOffset = EndOffset(run.Span);
            if (!TryKeep(run, nextOffset))
                return;
            Hold(new LogCursor(nextOffset, run.NextPosition));
        }
    }

    /// <summary>Ends the subscription; the ring is no longer asked for anything. The caller holds the lock.</summary>
    protected void End(StreamClose reason)
    {
        if (_hasEnded)
            return;
        _hasEnded = true;
        StopHolding();
        DropKept();
        _end(reason);
    }

    /// <summary>As <see cref="End"/>, for callers that do not hold the lock.</summary>
    protected void EndFromOutside(StreamClose reason)
    {
        lock (_lock)
            End(reason);
    }

    /// <summary>Nothing in the ring is wanted any more.</summary>
    protected void StopHolding() => _gate.SetFenced(long.MaxValue);

    private static long EndOffset(ReadOnlySpan<byte> run)
    {
        long end = 0;
        foreach (BatchView batch in new BatchRun(run))
            end = batch.NextOffset;
        return end;
    }

    private void Hold(in LogCursor cursor)
    {
        _held = cursor;
        _gate.SetFenced(cursor.Position);
    }

    private ReadResult Lend(in LogRun kept, out LentRun run)
    {
        // Positions belong to the ring. This reader has left it and never goes back.
        run = new LentRun(kept.Memory, new LogCursor(kept.FirstOffset, -1), new LogCursor(kept.NextOffset, -1));
        _next = run.End;
        return ReadResult.Run;
    }

    private bool SkipDropped(out LogGap gap)
    {
        LogCursor from = _log.SkipToEnd(this, out LogCursor end);
        _next = end;
        gap = new LogGap(from.Offset, end.Offset - 1, GapReason.Dropped);
        return from.Offset != end.Offset;
    }

    /// <returns>Null when the reader yielded meanwhile, and has to look again.</returns>
    private ReadResult? TryCopy(in LogCursor from, long end, int maxBytes, out LentRun run)
    {
        run = default;
        byte[]? copy = null;
        if (_log.Ring.TryGetRun(from.Position, end, maxBytes, out RingRun found))
        {
            copy = ArrayPool<byte>.Shared.Rent(found.Length);
            found.Span.CopyTo(copy);
        }
        lock (_lock)
        {
            if (_held == from && !_hasEnded)
            {
                if (copy is null)
                {
                    if (found.NextPosition != from.Position)
                        // Do not hold the padding at the end of a lap.
                        Hold(_held with { Position = found.NextPosition });
                    return ReadResult.AtEnd;
                }
                _next = new LogCursor(EndOffset(copy.AsSpan(0, found.Length)), found.NextPosition);
                Hold(_next);
                run = new LentRun(copy.AsMemory(0, found.Length), from, _next);
                _copy = copy;
                return ReadResult.Run;
            }
        }
        if (copy is not null)
            ArrayPool<byte>.Shared.Return(copy);
        return null;
    }

    private void GiveBack()
    {
        ReleaseKept();
        if (_copy is null)
            return;
        ArrayPool<byte>.Shared.Return(_copy);
        _copy = null;
    }
}

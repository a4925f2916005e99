using LightQ.Broker.Streams;
using LightQ.Disruptor;
using LightQ.Storage;
using LightQ.Storage.Spilling;

namespace LightQ.Broker.Logs;

/// <summary>Keeps what the ring held when it filled up, and drops what arrives until all of that was sent.</summary>
/// <remarks>
/// What has to leave the ring is copied into memory that all such readers share. When that is full, the reader keeps
/// what it has and drops the rest too: the bound is the ring, or what there is memory for.
/// </remarks>
internal sealed class DropNewestReader(RingLog log, Action<StreamClose> end, RunMemory memory)
    : YieldingReader(log, end)
{
    private readonly Queue<(byte[] Buffer, int Length, long FirstOffset, long NextOffset)> _kept = new();
    private byte[]? _lent;
    private long _keptBytes;

    public override long KeptBytes => Volatile.Read(ref _keptBytes);

    protected override void MakeRoom(long position)
    {
        Bound ??= RingEnd;
        Evacuate(position);
        if (Held.Position >= Bound.Value.Position)
            StopHolding();
    }

    protected override ReadResult TryReadKept(out LogRun run, out LogGap gap)
    {
        (run, gap) = (default, default);
        if (!_kept.TryDequeue(out (byte[] Buffer, int Length, long FirstOffset, long NextOffset) oldest))
            return ReadResult.AtEnd;
        _lent = oldest.Buffer;
        Volatile.Write(ref _keptBytes, _keptBytes - oldest.Length);
        run = new LogRun(oldest.Buffer.AsMemory(0, oldest.Length), oldest.FirstOffset, oldest.NextOffset);
        return ReadResult.Run;
    }

    protected override void ReleaseKept()
    {
        if (_lent is null)
            return;
        memory.Return(_lent);
        _lent = null;
    }

    protected override void DropKept()
    {
        while (_kept.TryDequeue(out (byte[] Buffer, int Length, long FirstOffset, long NextOffset) kept))
            memory.Return(kept.Buffer);
        Volatile.Write(ref _keptBytes, 0);
    }

    protected override bool TryKeep(in RingRun run, long nextOffset)
    {
        byte[]? buffer = memory.TryRent(run.Length);
        if (buffer is null)
        {
            Bound = Held;
            return false;
        }
        run.Span.CopyTo(buffer);
        _kept.Enqueue((buffer, run.Length, Held.Offset, nextOffset));
        Volatile.Write(ref _keptBytes, _keptBytes + run.Length);
        return true;
    }
}

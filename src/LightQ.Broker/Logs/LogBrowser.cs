using System.Buffers;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Logs;

/// <summary>
/// Reads a log for somebody who subscribes to nothing: holds nothing up, changes nothing, and lends copies. One call at
/// a time.
/// </summary>
internal sealed class LogBrowser : IDisposable
{
    private const int RunBytes = 256 * 1024;

    private readonly ITopicLog _log;

    /// <summary>Not disposed: when a wait is cancelled, the read may still be about to release it.</summary>
    private readonly SemaphoreSlim _ready = new(0);
    private readonly LogReader? _reader;
    private LogCursor _cursor;
    private byte[] _copy = [];

    /// <summary>Begins at the oldest message, at an offset or at a time.</summary>
    /// <exception cref="BrokerException">The topic was deleted.</exception>
    public LogBrowser(ITopicLog log, StartKind start, long value)
    {
        _log = log;
        if (log is RingLog ring)
            _cursor = ring.FindCursor(start, value) ?? throw Closed();
        else
            _reader = log.OpenReader(start, value, holds: false, () => _ready.Release());
    }

    /// <summary>Whole batches, after a run; valid until the next read.</summary>
    public ReadOnlyMemory<byte> Run { get; private set; }

    /// <summary>One behind the last offset of the run or of the gap.</summary>
    public long Next { get; private set; }

    /// <summary>Offsets that cannot be read, after a gap.</summary>
    public LogGap Gap { get; private set; }

    /// <summary>Reads on.</summary>
    /// <returns>A run, a gap, or that there is nothing more now.</returns>
    /// <exception cref="BrokerException">The topic was deleted, or the partition is served elsewhere now.</exception>
    /// <exception cref="IOException">The disk refuses.</exception>
    public async ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            switch (_log is RingLog ring ? TryReadRing(ring) : TryRead())
            {
                case ReadResult.Run:
                    return ReadResult.Run;
                case ReadResult.Gap:
                    Next = Gap.LastOffset + 1;
                    return ReadResult.Gap;
                case ReadResult.AtEnd:
                    return ReadResult.AtEnd;
                case ReadResult.Pending:
                    await _ready.WaitAsync(cancellationToken).ConfigureAwait(false);
                    break;
                case ReadResult.Closed:
                    throw Closed();
                default:
                    throw new IOException("The log cannot be read.");
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _reader?.Dispose();
        GiveBack();
    }

    private static BrokerException Closed() =>
        new(ErrorCode.Unavailable, "The partition was closed while it was read; make the call again.");

    private ReadResult TryReadRing(RingLog ring)
    {
        GiveBack();
        ReadResult result = ring.TryCopy(ref _cursor, RunBytes, out byte[] copy, out int length, out LogGap gap);
        (_copy, Run, Gap, Next) = (copy, copy.AsMemory(0, length), gap, _cursor.Offset);
        return result;
    }

    private ReadResult TryRead()
    {
        ReadResult result = _reader!.TryRead(RunBytes, out LentRun run, out LogGap gap);
        Gap = gap;
        if (result != ReadResult.Run)
            return result;
        GiveBack();
        _copy = ArrayPool<byte>.Shared.Rent(run.Memory.Length);
        run.Memory.CopyTo(_copy);
        (Run, Next) = (_copy.AsMemory(0, run.Memory.Length), run.End.Offset);
        _reader.MoveTo(run.End);
        return result;
    }

    private void GiveBack()
    {
        if (_copy.Length != 0)
            ArrayPool<byte>.Shared.Return(_copy);
        (_copy, Run) = ([], default);
    }
}

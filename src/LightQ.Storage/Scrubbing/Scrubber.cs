using LightQ.Scheduling;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage.Scrubbing;

/// <summary>
/// Reads everything that is durable again and again, slowly, so that damage is found before a reader needs what it hit.
/// </summary>
/// <remarks>
/// One thread for all journals, started with the first. A pass takes the journals in a random order, so that where
/// brokers are often restarted each has its turn: nothing is remembered over a restart. What a reader has found damaged
/// is looked at first, whatever the rate: this thread alone says what is damaged, so each range is reported once.
/// </remarks>
internal sealed class Scrubber(JournalEnvironmentOptions options) : IHousekept, IDisposable
{
    private const int BufferBytes = 256 * 1024;

    /// <summary>The clock of the calendar may be set.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromHours(1);

    private readonly JournalEnvironmentOptions _options = options;
    private readonly Lock _lock = new();
    private readonly List<LogState> _logs = [];
    private readonly List<SegmentCheck> _suspects = [];
    private HousekeepingThread? _thread;
    private byte[]? _buffer;
    private SegmentCheck? _check;
    private LogState? _log;
    private long _ordinal;
    private int _visited;
    private bool _passing;
    private long? _passBegan;
    private long _lastTended = options.TimeProvider.GetTimestamp();
    private long _budget;
    private long _bytes;
    private long _passes;

    /// <summary>Bytes read so far.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Complete passes over everything.</summary>
    public long Passes => Volatile.Read(ref _passes);

    private byte[] Buffer => _buffer ??= GC.AllocateUninitializedArray<byte>(BufferBytes);

    public void Add(LogState log)
    {
        lock (_lock)
        {
            _logs.Insert(Random.Shared.Next(_visited, _logs.Count + 1), log);
            _thread ??= new HousekeepingThread(_options.TimeProvider, _options.HousekeepingInterval, "lightq-scrubber");
            _thread.Request(this, TimeSpan.Zero);
        }
    }

    /// <summary>The journal is being closed. What is read of it at the moment is given up at the next batch.</summary>
    public void Remove(LogState log)
    {
        lock (_lock)
        {
            int index = _logs.IndexOf(log);
            if (index < 0)
                return;
            _logs.RemoveAt(index);
            if (index < _visited)
                _visited--;
            if (_log == log)
                _log = null;
            _suspects.RemoveAll(check => check.Log == log);
        }
    }

    /// <summary>A reader found damage: the whole segment is looked at, unless that is known.</summary>
    public void Suspect(LogState log, Segment segment, LogGap gap)
    {
        lock (_lock)
        {
            if (!log.IsDamaged(gap) && !_suspects.Exists(check => check.Segment == segment))
            {
                _suspects.Add(new SegmentCheck(log, segment, gap));
                _thread?.Request(this, TimeSpan.Zero);
            }
        }
    }

    public TimeSpan? Look(DateTimeOffset now)
    {
        double seconds = Math.Min(_options.TimeProvider.GetElapsedTime(_lastTended).TotalSeconds, 1);
        _lastTended = _options.TimeProvider.GetTimestamp();
        _budget = Math.Min(_options.ScrubBytesPerSecond, _budget + (long)(_options.ScrubBytesPerSecond * seconds));
        while (NextSuspect() is { } suspect)
        {
            long all = long.MaxValue;
            bool done = suspect.Advance(Buffer, _options.TailBytes, ref all);
            Count(long.MaxValue - all);
            if (!done)
                return TimeSpan.Zero;
            lock (_lock)
                _suspects.Remove(suspect);
        }
        while (_budget > 0 && (_check ??= Next()) is { } check)
        {
            long left = _budget;
            if (check.Advance(Buffer, _options.TailBytes, ref left))
                _check = null;
            Count(_budget - left);
        }
        return NextLook();
    }

    /// <summary>Runs once on the caller's thread: for tests.</summary>
    public void RunOnce() => Look(default);

    public void Dispose() => _thread?.Dispose();

    private void Count(long bytes)
    {
        _budget -= bytes;
        Volatile.Write(ref _bytes, _bytes + bytes);
    }

    /// <summary>
    /// While a pass is under way at the next look, else when the next pass is due; never when it reads nothing.
    /// </summary>
    private TimeSpan? NextLook()
    {
        lock (_lock)
        {
            if (_suspects.Count > 0)
                return TimeSpan.Zero;
            if (_options.ScrubBytesPerSecond == 0 || _logs.Count == 0)
                return null;
            if (_check is not null || _log is not null || _passing || _visited < _logs.Count)
                return TimeSpan.Zero;
            TimeSpan left = UntilPass();
            return left < LongestWait ? left : LongestWait;
        }
    }

    private TimeSpan UntilPass() =>
        _passBegan is { } began ? _options.ScrubInterval - _options.TimeProvider.GetElapsedTime(began) : TimeSpan.Zero;

    private SegmentCheck? NextSuspect()
    {
        lock (_lock)
            return _suspects.Count > 0 ? _suspects[0] : null;
    }

    /// <summary>The next segment of the pass; of the next pass once that is due.</summary>
    private SegmentCheck? Next()
    {
        lock (_lock)
        {
            while (true)
            {
                if (_log?.Segments.NextBehind(_ordinal) is { } segment)
                {
                    _ordinal = segment.Header.Ordinal;
                    return new SegmentCheck(_log, segment);
                }
                _log = null;
                if (!_passing && _logs.Count > 0 && UntilPass() <= TimeSpan.Zero)
                    (_passing, _passBegan, _visited) = (true, _options.TimeProvider.GetTimestamp(), 0);
                if (_visited < _logs.Count)
                {
                    // Between two passes this is a log that was opened late: a start takes longer than the first pass
                    // over the logs that are open already.
                    (_log, _ordinal) = (_logs[_visited++], 0);
                    continue;
                }
                if (!_passing)
                    return null;
                _passing = false;
                Volatile.Write(ref _passes, _passes + 1);
            }
        }
    }
}

using LightQ.Protocol.Frames;

namespace LightQ.Client.Publishing;

/// <summary>
/// Numbers the openings of a named producer, which rise: within the producer, and from one that had the name before to
/// the next, as far as their clocks agree; where they do not, the broker says so. Thread-safe.
/// </summary>
/// <remarks>So an opening that comes late changes nothing: see <see cref="OpenProducerFrame.Number"/>.</remarks>
internal sealed class OpeningNumbers(TimeProvider time)
{
    private readonly Lock _lock = new();
    private ulong _last;

    /// <summary>The number of the next opening: by default the time, in unix microseconds.</summary>
    public ulong Next()
    {
        ulong now = (ulong)(time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;
        lock (_lock)
            return _last = Math.Max(now, _last == ulong.MaxValue ? _last : _last + 1);
    }

    /// <summary>Numbers are higher than this one from now on.</summary>
    public void Pass(ulong number)
    {
        lock (_lock)
            _last = Math.Max(_last, number);
    }
}

using LightQ.Protocol;

namespace LightQ.Broker.Groups;

/// <summary>Unix microseconds that never jump: the wall clock when this was made, and what has passed since.</summary>
/// <remarks>
/// So a clock that is set does not end every lock, and a time that is kept means the same after a restart.
/// </remarks>
internal sealed class MonotonicMicroseconds(TimeProvider time)
{
    private readonly long _began = time.GetTimestamp();
    private readonly long _wall = UnixMicroseconds.From(time.GetUtcNow());

    /// <summary>Now.</summary>
    public long Now => _wall + (time.GetElapsedTime(_began).Ticks / TimeSpan.TicksPerMicrosecond);
}

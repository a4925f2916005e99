namespace LightQ.ClusterTests.Engine;

/// <summary>A clock that goes when it is told to.</summary>
internal sealed class ManualTime : TimeProvider
{
    private long _ticks = 1;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => _ticks;

    public void Advance(TimeSpan time) => _ticks += time.Ticks;
}

namespace LightQ.Tests.Storage;

/// <summary>A clock that moves when told; its timers never fire, tests run housekeeping themselves.</summary>
internal sealed class ManualClock : TimeProvider
{
    private DateTimeOffset _now = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public long UnixMicroseconds => (_now - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <summary>How far the wall clock is ahead of where it began and what has passed since.</summary>
    public TimeSpan Set { get; set; }

    public override DateTimeOffset GetUtcNow() => _now + Set;

    public override long GetTimestamp() => _now.UtcTicks;

    public void Advance(TimeSpan by) => _now += by;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        new Silent();

    private sealed class Silent : ITimer
    {
        public bool Change(TimeSpan dueTime, TimeSpan period) => true;

        public void Dispose() { }

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}

using LightQ.Protocol;

namespace LightQ.Client.Connections;

/// <summary>
/// The broker's clock, as it has told it and as far as has gone since by a clock that nobody sets. What other clients'
/// messages are worth is never judged by this machine's clock.
/// </summary>
internal sealed class BrokerTime
{
    private readonly TimeProvider _time;
    private readonly long _told;
    private readonly long _received;
    private readonly BrokerTime? _before;

    /// <param name="time">The clock of this process.</param>
    /// <param name="told">What the broker has just said, unix microseconds.</param>
    /// <param name="before">What it had said before its clock was set; null when it was not.</param>
    public BrokerTime(TimeProvider time, long told, BrokerTime? before = null)
    {
        (_time, _told, _received, _before) = (time, told, time.GetTimestamp(), before);
        Skew = time.GetUtcNow() - UnixMicroseconds.ToTime(told);
    }

    /// <summary>How far this machine's clock was ahead of it.</summary>
    public TimeSpan Skew { get; }

    /// <summary>What it says now, unix microseconds. A little less, as the broker's word was under way.</summary>
    public long Now => _told + (_time.GetElapsedTime(_received).Ticks / TimeSpan.TicksPerMicrosecond);

    /// <summary>
    /// What the expiry of a message is compared with: that the broker's clock was set behind its append makes it no
    /// older.
    /// </summary>
    /// <param name="appended">When the broker appended it, unix microseconds.</param>
    public long NowFor(long appended) =>
        _before is null || appended >= _told ? Now : Math.Min(Now, _before.NowFor(appended));
}

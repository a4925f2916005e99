using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Microsoft.Extensions.Logging;

namespace LightQ.Client.Connections;

/// <summary>Says in time, and then once a day, that the token which the client is logged in with ends.</summary>
/// <remarks>
/// In time is seven days. Where each login has another token, as with a file that something else keeps new, it is the
/// last quarter of what was left at the login, if that is shorter: until then nothing has gone wrong.
/// </remarks>
internal sealed class TokenWatch(LightQClientOptions options, ILogger logger, CancellationToken closing)
{
    private static readonly TimeSpan Notice = TimeSpan.FromDays(7),
        Again = TimeSpan.FromDays(1);

    private const long SameMicroseconds = 60_000_000;

    private readonly Lock _gate = new();
    private ITimer? _timer;
    private long _end;
    private DateTimeOffset _endsAt;
    private TimeSpan _notice;

    private TimeProvider Time => options.TimeProvider;

    /// <summary>A broker has said when the token ends.</summary>
    public void OnWelcome(in WelcomeFrame welcome)
    {
        lock (_gate)
        {
            // Of another broker, or of a connection that was lost: it is watched. Brokers count what is left.
            if (_end != 0 && welcome.TokenEnd - _end is > -SameMicroseconds and < SameMicroseconds)
                return;
            _end = welcome.Time == 0 ? 0 : welcome.TokenEnd; // It is by a clock that has to be known.
            if (_end == 0)
                return;
            DateTimeOffset now = Time.GetUtcNow();
            // Whatever the broker says, it is a time: the last one if need be.
            _endsAt = UnixMicroseconds.ToTime(UnixMicroseconds.From(now) + welcome.TokenEnd - welcome.Time);
            TimeSpan left = _endsAt - now;
            _notice = options.HasSecretSource && left / 4 < Notice ? left / 4 : Notice;
            if (_timer is null)
            {
                // On the pool: a logger may block.
                _timer = Time.CreateTimer(
                    static watch => ((TokenWatch)watch!).Look(),
                    this,
                    Timeout.InfiniteTimeSpan,
                    Timeout.InfiniteTimeSpan
                );
                closing.UnsafeRegister(static watch => ((TokenWatch)watch!).Close(), this);
            }
            _timer.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        }
    }

    private void Close()
    {
        lock (_gate)
        {
            _end = 0;
            _timer!.Dispose();
        }
    }

    private void Look()
    {
        TimeSpan left;
        lock (_gate)
        {
            left = _endsAt - Time.GetUtcNow();
            if (_end == 0 || left <= TimeSpan.Zero)
                return;
            bool isTime = left <= _notice;
            // Not all at once: a timer takes 49 days at most, and clocks are set.
            TimeSpan next = isTime || left - _notice > Again ? Again : left - _notice;
            _timer!.Change(next, Timeout.InfiniteTimeSpan);
            if (!isTime)
                return;
        }
        ClientLog.TokenEnds(logger, options.ToString(), left.TotalHours, _endsAt);
    }
}

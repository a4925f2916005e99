using LightQ.Client;
using LightQ.Client.Connections;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>What a client makes of the end of its token, and of the broker's time, whatever a broker says.</summary>
public sealed class TokenWatchTests
{
    private readonly ManualTime _time = new();

    private long Now => UnixMicroseconds.From(_time.GetUtcNow());

    [Fact]
    public void An_end_in_seven_days_is_said_and_one_by_an_unknown_clock_is_not()
    {
        TimeSpan week = TimeSpan.FromDays(7);
        Assert.Empty(Said(0, Now + (long)week.TotalMicroseconds));
        Assert.Empty(Said(Now, Now + (long)(week + TimeSpan.FromHours(1)).TotalMicroseconds));
        // By a broker's clock that is far behind: what is left counts.
        Assert.Single(Said(1_000_000, 1_000_000 + (long)week.TotalMicroseconds));
    }

    [Theory]
    [InlineData(1, long.MaxValue)]
    [InlineData(1, long.MinValue)]
    [InlineData(long.MinValue, long.MaxValue)]
    [InlineData(long.MaxValue, long.MinValue)]
    [InlineData(long.MaxValue, 1)]
    [InlineData(long.MinValue, -1)]
    public void Times_beyond_the_calendar_end_nothing(long time, long end)
    {
        Said(time, end);
        Assert.NotEqual(TimeSpan.Zero, new BrokerTime(_time, time).Skew);
    }

    private List<string> Said(long time, long end)
    {
        using var log = new RecordedLog();
        using var closing = new CancellationTokenSource();
        var options = new LightQClientOptions { TimeProvider = _time };
        var watch = new TokenWatch(options, log, closing.Token);
        var welcome = new WelcomeFrame(1, 0, Guid.Empty, 1, 65_536, 65_536, 65_536, 0, time, end);
        watch.OnWelcome(welcome);
        watch.OnWelcome(welcome);
        watch.OnWelcome(welcome with { TokenEnd = 1 });
        watch.OnWelcome(welcome);
        _time.Advance(TimeSpan.Zero);
        return [.. log.Lines.Select(line => line.Message)];
    }
}

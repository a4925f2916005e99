namespace LightQ.Scheduling;

/// <summary>
/// The broker's time: the machine's clock when the broker started, and what has passed since by a clock that nobody
/// sets. So a machine's clock that is set makes nothing older or younger.
/// </summary>
/// <remarks>
/// <para>
/// What the machine's clock gains or loses is followed, by at most a twentieth of the time that passes. A difference
/// of more than a minute is a step. It changes nothing until it has been the same for ten minutes; then this clock
/// takes it over, and remembers when, so that what happened before keeps its age.
/// </para>
/// <para>
/// It looks at the machine's clock when it is asked for the time, at most once a second. Thread-safe. See
/// docs/design/clocks.md.
/// </para>
/// </remarks>
public sealed class SteadyClock : TimeProvider
{
    /// <summary>A larger difference to the machine's clock is a step.</summary>
    public static readonly TimeSpan Tolerance = TimeSpan.FromMinutes(1);

    /// <summary>How long the machine's clock must go evenly, also behind a start, before it is believed.</summary>
    public static readonly TimeSpan Trust = TimeSpan.FromMinutes(10);

    private const long LooksPerSecond = 1;

    /// <summary>A small difference is followed by this share of the time that passes.</summary>
    private const long SlewShare = 20;

    /// <summary>
    /// The two clocks are read one after the other. A thread that rests between has not seen a step.
    /// </summary>
    private static readonly TimeSpan LongestReading = TimeSpan.FromMilliseconds(100);

    private readonly TimeProvider _source;
    private readonly Lock _looking = new();
    private readonly long _began;
    private long _zero;
    private long _lookAt;
    private long _lookedAt;
    private Era[] _past = [];
    private long _eraBegan;
    private long _taken;
    private ClockStep? _step;
    private long _stepSeen;

    /// <summary>Starts with what the machine's clock says now.</summary>
    /// <param name="source">The machine's clocks.</param>
    public SteadyClock(TimeProvider source)
    {
        ArgumentNullException.ThrowIfNull(source);
        _source = source;
        _began = source.GetTimestamp();
        _zero = source.GetUtcNow().UtcTicks;
        _lookAt = _began + (source.TimestampFrequency / LooksPerSecond);
    }

    /// <summary>Tells of steps; called by whoever asks for the time.</summary>
    public event Action<ClockStep>? Stepped;

    /// <inheritdoc/>
    public override long TimestampFrequency => _source.TimestampFrequency;

    /// <inheritdoc/>
    public override TimeZoneInfo LocalTimeZone => _source.LocalTimeZone;

    /// <summary>How long this clock runs.</summary>
    public TimeSpan Uptime => new(Elapsed(_source.GetTimestamp()));

    /// <summary>How often a step was taken over.</summary>
    public int StepsTaken => Volatile.Read(ref _past).Length;

    /// <summary>By how much together.</summary>
    public TimeSpan Taken => new(Volatile.Read(ref _taken));

    /// <summary>The step that the machine's clock has made and that is not taken over; null for none.</summary>
    public ClockStep? Step
    {
        get
        {
            _ = GetUtcNow();
            return Volatile.Read(ref _step);
        }
    }

    /// <summary>
    /// Whether the machine's clock has gone evenly for so long that one may go by what files say of earlier runs.
    /// </summary>
    public bool IsSure => Step is null && Uptime >= Trust;

    /// <summary>The clock over another one; that one itself if it is one.</summary>
    public static SteadyClock Over(TimeProvider source) => source as SteadyClock ?? new SteadyClock(source);

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow()
    {
        long timestamp = _source.GetTimestamp();
        if (timestamp >= Volatile.Read(ref _lookAt))
            Look();
        return new DateTimeOffset(Volatile.Read(ref _zero) + Elapsed(timestamp), TimeSpan.Zero);
    }

    /// <inheritdoc/>
    public override long GetTimestamp() => _source.GetTimestamp();

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        _source.CreateTimer(callback, state, dueTime, period);

    /// <summary>
    /// What this clock said so long ago: what it stamped earlier than that is older, whether or not a step was taken
    /// over since. Behind a step back that may be less than it said, as it then says times twice.
    /// </summary>
    /// <param name="age">How long ago; any time.</param>
    public DateTimeOffset Ago(TimeSpan age)
    {
        DateTimeOffset now = GetUtcNow();
        Era[] past = Volatile.Read(ref _past);
        if (past.Length == 0)
            return age.Ticks < now.UtcTicks ? now - age : DateTimeOffset.MinValue;
        long zero = Volatile.Read(ref _zero);
        long then = Math.Max(now.UtcTicks - zero - age.Ticks, -zero);
        long said = Said(then, Volatile.Read(ref _eraBegan), zero);
        foreach (Era era in past)
        {
            if (era.Ended > then)
                said = Math.Min(said, Said(then, era.Began, era.Zero));
        }
        return new DateTimeOffset(Math.Max(said, 0), TimeSpan.Zero);
    }

    /// <summary>
    /// As <see cref="Ago"/>, for what cannot be undone: of a time before this clock began it knows nothing until that
    /// <see cref="IsSure"/>, and answers with the earliest time there is.
    /// </summary>
    /// <param name="age">How long ago; any time.</param>
    public DateTimeOffset SureAgo(TimeSpan age) => age <= Uptime || IsSure ? Ago(age) : DateTimeOffset.MinValue;

    /// <summary>
    /// The least that a time's clock has said since a moment; before the start what it would have said.
    /// </summary>
    private static long Said(long then, long began, long zero) => zero + (then < 0 ? then : Math.Max(then, began));

    private void Look()
    {
        if (!_looking.TryEnter())
            return;
        ClockStep? news;
        try
        {
            long before = _source.GetTimestamp();
            long wall = _source.GetUtcNow().UtcTicks;
            long timestamp = _source.GetTimestamp();
            if (_source.GetElapsedTime(before, timestamp) > LongestReading)
                return;
            Volatile.Write(ref _lookAt, timestamp + (_source.TimestampFrequency / LooksPerSecond));
            long elapsed = Elapsed(timestamp);
            news = Compare(wall - Volatile.Read(ref _zero) - elapsed, elapsed);
            _lookedAt = elapsed;
        }
        finally
        {
            _looking.Exit();
        }
        if (news is not null)
            Stepped?.Invoke(news);
    }

    /// <summary>Looks at how far the machine's clock is ahead of this one.</summary>
    private ClockStep? Compare(long ahead, long elapsed)
    {
        ClockStep? known = _step;
        if (Math.Abs(ahead) <= Tolerance.Ticks)
        {
            long most = (elapsed - _lookedAt) / SlewShare;
            Volatile.Write(ref _zero, _zero + Math.Clamp(ahead, -most, most));
            Volatile.Write(ref _step, null);
            return known is null ? null : known with { State = ClockStepState.Undone };
        }
        if (known is null || Math.Abs(ahead - known.By.Ticks) > Tolerance.Ticks)
        {
            _stepSeen = elapsed;
            var step = new ClockStep(new TimeSpan(ahead), ClockStepState.Seen);
            Volatile.Write(ref _step, step);
            return step;
        }
        if (elapsed - _stepSeen < Trust.Ticks)
            return null;
        // In this order: a reader between gets the less of both.
        Volatile.Write(ref _past, [.. _past, new Era(_eraBegan, elapsed, _zero)]);
        Volatile.Write(ref _eraBegan, elapsed);
        Volatile.Write(ref _taken, _taken + ahead);
        Volatile.Write(ref _zero, _zero + ahead);
        Volatile.Write(ref _step, null);
        return new ClockStep(new TimeSpan(ahead), ClockStepState.Taken);
    }

    /// <summary>Ticks since the start.</summary>
    private long Elapsed(long timestamp) => _source.GetElapsedTime(_began, timestamp).Ticks;

    /// <summary>A time between two steps that were taken over.</summary>
    /// <param name="Began">When it began, in ticks since the start.</param>
    /// <param name="Ended">When it ended.</param>
    /// <param name="Zero">What the clock would have said at the start.</param>
    private sealed record Era(long Began, long Ended, long Zero);
}

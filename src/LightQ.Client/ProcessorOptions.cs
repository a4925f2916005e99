namespace LightQ.Client;

/// <summary>
/// How a <see cref="LightQProcessor"/> works. Immutable; a value outside its range throws when it is set.
/// </summary>
public sealed record ProcessorOptions
{
    private const int MostAtOnce = 10_000,
        DefaultAhead = 1000;

    /// <summary>How many handlers run at the same time, 1 (the default) to 10,000.</summary>
    public int MaxConcurrency
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, 1);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, MostAtOnce);
            field = value;
        }
    } = 1;

    /// <summary>
    /// How many messages of a partition the processor holds at most, including those that wait for a handler. Default
    /// 0: <see cref="MaxConcurrency"/>, and what the handlers get done in a tenth of a second, up to 1,000. Less than
    /// <see cref="MaxConcurrency"/> leaves handlers idle.
    /// </summary>
    public int MaxInFlight
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            field = value;
        }
    }

    /// <summary>
    /// Whether the processor completes a message when its handler returns. Default: true. Otherwise the handler settles
    /// the message. In both cases a message whose handler throws is abandoned, unless the handler had settled it
    /// before.
    /// </summary>
    public bool AutoComplete { get; init; } = true;

    /// <summary>
    /// How long a message's lock is renewed, counted from when its handler begins; before that, from when the message
    /// arrived. 0 to 24 h, default 5 min; 0 never renews. After that the lock expires, the handler's token is
    /// cancelled, and the message is redelivered to another member. The limit protects against handlers that hang.
    /// </summary>
    public TimeSpan MaxLockRenewal
    {
        get;
        init => field = UpToADay(value);
    } = TimeSpan.FromMinutes(5);

    /// <summary>
    /// How long a message is locked for this processor without a renewal, 1 s to 12 h; null (the default) for the
    /// topic's lock duration. A longer lock needs fewer renewals. With a shorter one, other members get the messages of
    /// a host that hangs sooner.
    /// </summary>
    public TimeSpan? LockDuration
    {
        get;
        init => field = ConsumeOptions.CheckLockDuration(value);
    }

    /// <summary>
    /// How long <see cref="LightQProcessor.StopAsync"/> lets running handlers go on before it cancels their tokens. 0
    /// to 24 h, default 30 s.
    /// </summary>
    public TimeSpan DrainTimeout
    {
        get;
        init => field = UpToADay(value);
    } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Which messages run one after the other. Default: none. <see cref="LightQProcessor"/> says what order means when
    /// a message is abandoned.
    /// </summary>
    public ProcessingOrder Ordering { get; init; }

    /// <summary>Where the group begins if it is new. Default: as for <see cref="ConsumeOptions.Start"/>.</summary>
    public StartPosition Start { get; init; }

    /// <summary>Which messages are wanted; the others are completed without a handler. Default null: all.</summary>
    public MessageFilter? Filter { get; init; }

    /// <summary>
    /// What becomes of a message by the exception that its handler throws: the first rule counts that fits. Default:
    /// no rule, so that every failure is redelivered after the topic's retry delay.
    /// </summary>
    public IReadOnlyList<RetryRule> Retries
    {
        get;
        init
        {
            ArgumentNullException.ThrowIfNull(value);
            field = [.. value];
        }
    } = [];

    /// <summary>What a broker is told that cannot be told later what the handlers get done.</summary>
    internal int EffectiveMaxInFlight => MaxInFlight != 0 ? MaxInFlight : 2 * MaxConcurrency;

    /// <summary>How many messages are worked on at a time.</summary>
    internal int AtATime => MaxInFlight != 0 ? Math.Min(MaxInFlight, MaxConcurrency) : MaxConcurrency;

    /// <summary>How many messages wait behind them at first.</summary>
    internal int Ahead => Math.Min(MostAhead, MaxConcurrency);

    /// <summary>How many may wait, however fast the handlers are.</summary>
    internal int MostAhead => MaxInFlight != 0 ? MaxInFlight - AtATime : DefaultAhead;

    private static TimeSpan UpToADay(TimeSpan value) =>
        value >= TimeSpan.Zero && value <= TimeSpan.FromDays(1)
            ? value
            : throw new ArgumentOutOfRangeException(nameof(value), value, "The time is 0 to 24 h.");
}

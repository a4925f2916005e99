namespace LightQ.Client;

/// <summary>
/// What a <see cref="LightQProcessor"/> does with a message when its handler throws a certain exception. Without a rule
/// the message is redelivered after the topic's retry delay. Immutable.
/// </summary>
/// <example>
/// <code>
/// var options = new ProcessorOptions
/// {
///     Retries =
///     [
///         RetryRule.DeadLetter&lt;FormatException&gt;(),
///         RetryRule.After&lt;HttpRequestException&gt;(TimeSpan.FromMinutes(1)),
///     ],
/// };
/// </code>
/// </example>
public sealed record RetryRule
{
    private RetryRule(Type exception, TimeSpan? delay) => (Exception, Delay) = (exception, delay);

    /// <summary>The exception; those that derive from it count, too.</summary>
    public Type Exception { get; }

    /// <summary>After what time the message is redelivered; null when it is dead-lettered at once.</summary>
    public TimeSpan? Delay { get; }

    /// <summary>Dead-letters the message at once: another try would fail as well.</summary>
    /// <typeparam name="TException">The exception.</typeparam>
    public static RetryRule DeadLetter<TException>()
        where TException : Exception => new(typeof(TException), null);

    /// <summary>Redelivers the message after a time of its own. The topic's number of deliveries counts.</summary>
    /// <typeparam name="TException">The exception.</typeparam>
    /// <param name="delay">0 to 49 days, as for <see cref="Message.AbandonAsync"/>.</param>
    public static RetryRule After<TException>(TimeSpan delay)
        where TException : Exception
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(delay, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(delay, TimeSpan.FromMilliseconds(uint.MaxValue));
        return new RetryRule(typeof(TException), delay);
    }

    /// <summary>The first rule that fits; of an <see cref="AggregateException"/> with one inside, of that.</summary>
    internal static RetryRule? Find(IReadOnlyList<RetryRule> rules, Exception error)
    {
        if (error is AggregateException { InnerExceptions: [var only] } && Find(rules, only) is { } inside)
            return inside;
        foreach (RetryRule rule in rules)
        {
            if (rule.Exception.IsInstanceOfType(error))
                return rule;
        }
        return null;
    }
}

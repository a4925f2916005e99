namespace LightQ.Client;

/// <summary>
/// Thrown by a handler whose message is not to blame: something that all messages need is down. The processor pauses,
/// and the delivery does not count.
/// </summary>
/// <remarks>
/// The same as <see cref="ProcessMessageEventArgs.PauseAsync"/>, for code that has no event data at hand. It is found
/// inside other exceptions, too. An error handler (<see cref="LightQProcessor.ProcessErrorAsync"/>) that throws it
/// pauses the processor in place of the handler: one place then decides for many handlers.
/// </remarks>
/// <example>
/// <code>
/// catch (HttpRequestException e) when (e.StatusCode == HttpStatusCode.ServiceUnavailable)
/// {
///     throw new ProcessorPausedException("The ledger is down.", TimeSpan.FromSeconds(30), e);
/// }
/// </code>
/// </example>
public sealed class ProcessorPausedException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="message">What is down; for the log and the health check.</param>
    /// <param name="duration">
    /// How long to pause, up to 24 h; null (the default) for 1 s, which doubles up to 30 s.
    /// </param>
    /// <param name="innerException">The cause; null for none.</param>
    /// <exception cref="ArgumentOutOfRangeException">No pause has this length.</exception>
    public ProcessorPausedException(string message, TimeSpan? duration = null, Exception? innerException = null)
        : base(message, innerException)
    {
        if (duration is { } time && (time <= TimeSpan.Zero || time > TimeSpan.FromDays(1)))
            throw new ArgumentOutOfRangeException(nameof(duration), time, "A pause takes up to 24 h.");
        Duration = duration;
    }

    /// <summary>How long to pause; null for the processor's own time.</summary>
    public TimeSpan? Duration { get; }
}

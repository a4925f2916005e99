namespace LightQ.Client;

/// <summary>
/// A broker's announcement that it is about to end a client's connection, for example because it is being stopped.
/// </summary>
public sealed class GoingAwayEventArgs : EventArgs
{
    /// <summary>Creates the event's data.</summary>
    /// <param name="code">Why the broker ends the connection.</param>
    /// <param name="timeLeft">Time from now until the broker ends the connection at the latest.</param>
    /// <param name="message">The broker's message, for people.</param>
    public GoingAwayEventArgs(ErrorCode code, TimeSpan timeLeft, string message)
    {
        Code = code;
        TimeLeft = timeLeft;
        Message = message;
    }

    /// <summary>
    /// Why the broker ends the connection: <see cref="ErrorCode.ShuttingDown"/> when it is being stopped.
    /// </summary>
    public ErrorCode Code { get; }

    /// <summary>
    /// Time from now until the broker ends the connection at the latest. The client leaves earlier when it waits for no
    /// answer.
    /// </summary>
    public TimeSpan TimeLeft { get; }

    /// <summary>The broker's message, for people.</summary>
    public string Message { get; }

    /// <summary>The broker, as <c>host:port</c>.</summary>
    public string? Broker { get; init; }
}

namespace LightQ.Client;

/// <summary>
/// A broker's announcement that it is about to end a client's connection, for example because it is being stopped.
/// </summary>
public sealed class GoingAwayEventArgs : EventArgs
{
    /// <summary>Makes the event's data.</summary>
    /// <param name="code">Why the broker leaves.</param>
    /// <param name="timeLeft">When it ends the connection at the latest, from now.</param>
    /// <param name="message">What it says, for people.</param>
    public GoingAwayEventArgs(ErrorCode code, TimeSpan timeLeft, string message)
    {
        Code = code;
        TimeLeft = timeLeft;
        Message = message;
    }

    /// <summary>Why the broker leaves: <see cref="ErrorCode.ShuttingDown"/> when it is being stopped.</summary>
    public ErrorCode Code { get; }

    /// <summary>
    /// When the broker ends the connection at the latest, from now. The client leaves earlier when nothing of its own
    /// awaits an answer.
    /// </summary>
    public TimeSpan TimeLeft { get; }

    /// <summary>What the broker says, for people.</summary>
    public string Message { get; }
}

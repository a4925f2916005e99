namespace LightQ.Broker.Replication;

/// <summary>The engine of replicated streams could not do what was asked.</summary>
/// <param name="message">What was asked, and what it said.</param>
/// <param name="innerException">What it was caused by, if anything.</param>
public sealed class ReplicationException(string message, Exception? innerException = null)
    : Exception(message, innerException)
{
    /// <summary>Whether the engine has no room: with some, the same works.</summary>
    public bool IsFull { get; init; }

    /// <summary>
    /// Whether the engine answers, and a stream lacks what it must have: waiting does not bring that back, unless a
    /// replica was behind.
    /// </summary>
    public bool IsLoss { get; init; }
}

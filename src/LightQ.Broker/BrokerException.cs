namespace LightQ.Broker;

/// <summary>A request that the engine refuses, with the code that both planes report.</summary>
public class BrokerException : Exception
{
    /// <summary>Makes the exception.</summary>
    /// <param name="code">Why.</param>
    /// <param name="message">What was wrong and what is allowed, for people.</param>
    public BrokerException(ErrorCode code, string message)
        : base(message) => Code = code;

    /// <summary>Why the request was refused.</summary>
    public ErrorCode Code { get; }
}

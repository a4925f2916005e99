namespace LightQ.Bench;

/// <summary>Ends a bench; the message is one line for people: what is wrong, and what to do.</summary>
internal sealed class BenchException(BenchFailure failure, string message) : Exception(message)
{
    /// <summary>What kind of failure it is.</summary>
    public BenchFailure Failure { get; } = failure;
}

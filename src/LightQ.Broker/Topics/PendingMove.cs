namespace LightQ.Broker.Topics;

/// <summary>An operator wishes that a node leads a partition.</summary>
internal sealed class PendingMove(string to)
{
    /// <summary>The node.</summary>
    public string To { get; } = to;

    /// <summary>Completes with the reason why not; empty when it leads it.</summary>
    public TaskCompletionSource<string> Done { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
}

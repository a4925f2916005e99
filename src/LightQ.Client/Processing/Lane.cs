namespace LightQ.Client.Processing;

/// <summary>Messages that run one after the other: the current one, and those that wait for it.</summary>
/// <param name="Key">What they have in common.</param>
internal sealed record Lane(LaneKey Key)
{
    /// <summary>Those that wait.</summary>
    public Queue<HeldMessage> Waiting { get; } = new();
}

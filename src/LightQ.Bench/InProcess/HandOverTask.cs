namespace LightQ.Bench.InProcess;

/// <summary>What the consumer's end is to do next.</summary>
/// <param name="Messages">Receive so many; 0: echo the cache line.</param>
/// <param name="ThroughLine">Whether they come through the cache line.</param>
internal sealed record HandOverTask(long Messages, bool ThroughLine = false)
{
    public static readonly HandOverTask Echo = new(0);
}

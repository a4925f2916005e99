namespace LightQ.Tests.Fuzzing;

/// <summary>What came of feeding a target.</summary>
internal sealed class FuzzFigures
{
    /// <summary>Inputs fed.</summary>
    public long Executions { get; set; }

    /// <summary>Inputs that were not refused.</summary>
    public long Accepted { get; set; }

    /// <summary>The different typed errors that came out.</summary>
    public HashSet<(Type Type, int Code)> Refusals { get; } = [];

    /// <summary>Most bytes that an execution allocated.</summary>
    public long LargestAllocation { get; set; }

    /// <summary>The longest execution of those above 5 ms, at its fastest of four times.</summary>
    public TimeSpan Longest { get; set; }

    /// <summary>How long it took in all.</summary>
    public TimeSpan Elapsed { get; set; }
}

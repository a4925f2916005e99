namespace LightQ.Bench;

/// <summary>Why a bench could not go on.</summary>
internal enum BenchFailure
{
    /// <summary>Something that was measured, or a process that measures, has failed.</summary>
    Failed,

    /// <summary>What is to be measured is not there.</summary>
    Unreachable,
}

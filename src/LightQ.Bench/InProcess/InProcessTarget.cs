namespace LightQ.Bench.InProcess;

/// <summary>What messages are handed over through.</summary>
internal enum InProcessTarget
{
    /// <summary>A ring in native memory, one producer.</summary>
    Ring,

    /// <summary>The same with the claim for many producers.</summary>
    RingMulti,

    /// <summary>A ring in a mapped file.</summary>
    FileRing,

    /// <summary>A journal, stored into and read through its mapped segments; never synced.</summary>
    Journal,
}

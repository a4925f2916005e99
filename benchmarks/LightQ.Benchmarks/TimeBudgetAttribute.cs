namespace LightQ.Benchmarks;

/// <summary>
/// The most that a benchmark may take, as a multiple of its class's baseline with the same parameters in the same run.
/// </summary>
/// <remarks>
/// Both are judged by their fastest iteration: what a busy machine adds is not the code's. A short run (<c>--ci</c>)
/// gives ten times the budget and a second chance, so only gross misses fail there: something that grows with the data,
/// a lock, a system call where there was none.
/// </remarks>
/// <param name="ratio">The multiple.</param>
[AttributeUsage(AttributeTargets.Method)]
public sealed class TimeBudgetAttribute(double ratio) : Attribute
{
    /// <summary>What a short run may take of it.</summary>
    public const double QuickFactor = 10;

    /// <summary>The multiple.</summary>
    public double Ratio { get; } = ratio;
}

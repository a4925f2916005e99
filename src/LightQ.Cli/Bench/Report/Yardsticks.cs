using LightQ.Bench;

namespace LightQ.Cli.Bench.Report;

/// <summary>Results of one product run beside several yardsticks.</summary>
internal static class Yardsticks
{
    /// <summary>The yardsticks, in the order in which they come.</summary>
    public static string[] Of(IEnumerable<BenchResult> results) => [.. results.Select(r => r.Yardstick).Distinct()];

    /// <summary>The results of each size, kind and way to use the product, in the yardsticks' order.</summary>
    public static IEnumerable<TResult[]> Beside<TResult>(IReadOnlyList<TResult> results)
        where TResult : BenchResult
    {
        string[] yardsticks = Of(results);
        return results
            .GroupBy(r => (r.Size, r.Kind, r.Api))
            .Select(g => g.OrderBy(r => Array.IndexOf(yardsticks, r.Yardstick)).ToArray());
    }
}

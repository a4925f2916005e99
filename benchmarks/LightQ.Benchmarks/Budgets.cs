using System.Globalization;
using System.Reflection;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;

namespace LightQ.Benchmarks;

/// <summary>
/// What is wrong with a run: benchmarks that failed, that allocate, or that take longer than their budget.
/// </summary>
/// <remarks>
/// The bytes are those of the whole process, so a timer's or the JIT's few kilobytes stand in them too, and a journal's
/// new segments do; spread over a run's thousands of operations they are less than the smallest object (24 bytes on 64
/// bits), which one allocation per operation would cost.
/// </remarks>
internal sealed class Budgets(bool quick)
{
    private const long SmallestObject = 24;
    private const string MayAllocate = "allocates";

    /// <summary>What these categories measure runs once per message or batch.</summary>
    private static readonly string[] AllocationFree = ["protocol", "ring", "journal", "broker", "client"];

    /// <summary>What did not run.</summary>
    public static IEnumerable<string> Failures(Summary summary)
    {
        if (summary.HasCriticalValidationErrors)
        {
            yield return $"{summary.Title}: "
                + $"{string.Join("; ", summary.ValidationErrors.Select(error => error.Message))}";
        }

        foreach (
            BenchmarkCase missing in summary.BenchmarksCases.Except(
                summary.Reports.Where(report => report.Success).Select(report => report.BenchmarkCase)
            )
        )
        {
            yield return $"{missing.DisplayInfo} did not run to its end.";
        }
    }

    /// <summary>What allocates or took too long, by the class it is in.</summary>
    public IEnumerable<(Type Class, string Failure)> OverspentIn(Summary summary)
    {
        foreach (BenchmarkReport report in summary.Reports.Where(report => report.Success))
        {
            foreach (string? failure in (string?[])[AllocationFailure(report), TimeFailure(summary, report)])
            {
                if (failure is not null)
                    yield return (report.BenchmarkCase.Descriptor.Type, failure);
            }
        }
    }

    private static string? AllocationFailure(BenchmarkReport report)
    {
        string[] categories = report.BenchmarkCase.Descriptor.Categories;
        long? bytes = report.GcStats.GetBytesAllocatedPerOperation(report.BenchmarkCase);
        return
            bytes >= SmallestObject && categories.Intersect(AllocationFree).Any() && !categories.Contains(MayAllocate)
            ? $"{report.BenchmarkCase.DisplayInfo} allocates {bytes} bytes per operation; none are allowed in "
                + $"{string.Join(", ", AllocationFree)}."
            : null;
    }

    private string? TimeFailure(Summary summary, BenchmarkReport report)
    {
        Descriptor descriptor = report.BenchmarkCase.Descriptor;
        if (descriptor.WorkloadMethod.GetCustomAttribute<TimeBudgetAttribute>() is not { } budget)
            return null;
        BenchmarkReport? baseline = summary.Reports.FirstOrDefault(other =>
            other.Success
            && other.BenchmarkCase.Descriptor.Baseline
            && other.BenchmarkCase.Descriptor.Type == descriptor.Type
            && other.BenchmarkCase.Parameters.ValueInfo == report.BenchmarkCase.Parameters.ValueInfo
        );
        if (baseline is null)
            return $"{report.BenchmarkCase.DisplayInfo} has a budget and no baseline beside it in this run.";
        double ratio = report.ResultStatistics!.Min / baseline.ResultStatistics!.Min;
        double most = budget.Ratio * (quick ? TimeBudgetAttribute.QuickFactor : 1);
        return ratio <= most
            ? null
            : string.Create(
                CultureInfo.InvariantCulture,
                $"{report.BenchmarkCase.DisplayInfo} takes {ratio:F2} times its baseline; its budget is {most:F2}."
            );
    }
}

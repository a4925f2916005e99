using System.Globalization;
using System.Text.Json;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Fuzzing;

/// <summary>
/// Hostile bytes and texts for every parser: each ends in an answer or a typed error, within a second and within its
/// allocation.
/// </summary>
/// <remarks>
/// A fault's message has the input, which becomes a file in <c>Found/TARGET</c>: from then on it is fed every time.
/// Besides the variables of <see cref="FaultRun"/>: <c>LIGHTQ_FUZZ_TARGETS</c> (names with commas),
/// <c>LIGHTQ_FUZZ_EXECUTIONS</c> (of each), <c>LIGHTQ_FUZZ_SECONDS</c> (for each at most) and <c>LIGHTQ_FUZZ_REPORT</c>
/// (a directory that gets one JSON file a target), which <c>tests/fuzz.sh</c> sets.
/// </remarks>
public sealed class FuzzTests
{
    private const int PlainExecutions = 300;
    private const long LongRun = 20_000_000;
    private static readonly JsonSerializerOptions Indented = new() { WriteIndented = true };

    public static TheoryData<string> Targets => [.. FuzzTargets.All().Select(t => t.Name)];

    [Theory]
    [MemberData(nameof(Targets))]
    public void A_hostile_input_ends_in_an_answer_or_a_typed_error(string target)
    {
        int seed = FaultRun.NewSeed();
        Fuzzer fuzzer = Run(FuzzTargets.All().Single(t => t.Name == target), seed, PlainExecutions);
        AssertNone(target, seed, fuzzer.Faults);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Fault", "N1")]
    [Trait("Tier", "C")]
    public void Many_hostile_inputs_end_in_an_answer_or_a_typed_error()
    {
        FaultRun.RequireTier("Four million inputs take most of a minute.");
        var run = new FaultRun("N1", "hostile bytes and texts for every parser");
        var faults = new List<(string Target, FuzzFault Fault)>();
        foreach (FuzzTarget target in Chosen())
        {
            Fuzzer fuzzer = Run(target, run.Seed, ExecutionsOf(target));
            faults.AddRange(fuzzer.Faults.Select(f => (target.Name, f)));
            run.Count("parsers");
            run.Count("executions", fuzzer.Figures.Executions);
            run.Count("accepted", fuzzer.Figures.Accepted);
            run.Figure(
                "largest allocation, bytes",
                Math.Max(run["largest allocation, bytes"], fuzzer.Figures.LargestAllocation)
            );
            run.Figure("longest ms", Math.Max(run["longest ms"], (long)fuzzer.Figures.Longest.TotalMilliseconds));
            Report(target, fuzzer, run.Seed);
        }
        run.Count("faults", faults.Count);
        run.Report();
        Assert.True(
            faults.Count == 0,
            $"Seed {run.Seed}: {faults.Count} "
                + $"faults.\n{string.Join("\n\n", faults.Select(f => $"{f.Target}, {f.Fault}"))}"
        );
    }

    private static Fuzzer Run(FuzzTarget target, int seed, long executions)
    {
        var fuzzer = new Fuzzer(target, FuzzTargets.FoundBy(target.Name), seed);
        TimeSpan? limit = int.TryParse(
            Environment.GetEnvironmentVariable("LIGHTQ_FUZZ_SECONDS"),
            CultureInfo.InvariantCulture,
            out int seconds
        )
            ? TimeSpan.FromSeconds(seconds)
            : null;
        fuzzer.Run(
            executions,
            limit,
            figures =>
                Console.Error.WriteLine(
                    $"{target.Name}: {figures.Executions:N0} of {executions:N0} in {figures.Elapsed:hh\\:mm\\:ss}"
                )
        );
        return fuzzer;
    }

    private static IEnumerable<FuzzTarget> Chosen()
    {
        string[] names = Environment.GetEnvironmentVariable("LIGHTQ_FUZZ_TARGETS") is { Length: > 0 } chosen
            ? chosen.Split(',')
            : [];
        FuzzTarget[] all = [.. FuzzTargets.All()];
        Assert.All(
            names,
            name =>
                Assert.True(
                    Array.Exists(all, t => t.Name == name),
                    $"There is no target '{name}'; there are {string.Join(", ", all.Select(t => t.Name))}."
                )
        );
        return all.Where(t => names.Length == 0 || names.Contains(t.Name));
    }

    private static long ExecutionsOf(FuzzTarget target) =>
        long.TryParse(
            Environment.GetEnvironmentVariable("LIGHTQ_FUZZ_EXECUTIONS"),
            CultureInfo.InvariantCulture,
            out long asked
        )
            ? asked
        : FaultRun.Tier == "N" ? LongRun
        : target.GateExecutions;

    private static void AssertNone(string target, int seed, List<FuzzFault> faults) =>
        Assert.True(faults.Count == 0, $"{target}, seed {seed}: {faults.Count} faults.\n{string.Join("\n\n", faults)}");

    private static void Report(FuzzTarget target, Fuzzer fuzzer, int seed)
    {
        FuzzFigures figures = fuzzer.Figures;
        var row = new
        {
            target = target.Name,
            what = target.What,
            commit = Environment.GetEnvironmentVariable("LIGHTQ_COMMIT") ?? "",
            seed,
            executions = figures.Executions,
            perSecond = (long)(figures.Executions / Math.Max(0.001, figures.Elapsed.TotalSeconds)),
            accepted = figures.Accepted,
            typedErrors = figures.Refusals.Count,
            longestMilliseconds = (long)figures.Longest.TotalMilliseconds,
            largestAllocation = figures.LargestAllocation,
            faults = fuzzer.Faults.Count,
        };
        TestContext.Current.TestOutputHelper?.WriteLine(JsonSerializer.Serialize(row));
        if (Environment.GetEnvironmentVariable("LIGHTQ_FUZZ_REPORT") is not { Length: > 0 } directory)
            return;
        Directory.CreateDirectory(directory);
        File.WriteAllText(
            Path.Combine(directory, $"{target.Name}.json"),
            JsonSerializer.Serialize(row, Indented) + "\n"
        );
        foreach ((FuzzFault fault, int index) in fuzzer.Faults.Select((f, i) => (f, i)))
        {
            File.WriteAllBytes(Path.Combine(directory, $"{target.Name}.fault{index}"), fault.Input);
            File.WriteAllText(Path.Combine(directory, $"{target.Name}.fault{index}.txt"), $"seed {seed}, {fault}\n");
        }
    }
}

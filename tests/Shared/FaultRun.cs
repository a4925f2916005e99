using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Xunit;

namespace LightQ.Tests.Shared;

/// <summary>
/// One run of a row of the fault matrix (docs/measured/faults.md): how often, from which seed, and what goes into the
/// report.
/// </summary>
/// <remarks>
/// <list type="bullet">
/// <item>
/// <c>LIGHTQ_TIER</c>: absent for the short run of plain <c>dotnet test</c>, <c>C</c> for the gate, <c>N</c> for the
/// long run on demand.
/// </item>
/// <item><c>LIGHTQ_SEED</c>: repeats a run whose seed was printed; absent for a new seed.</item>
/// <item><c>LIGHTQ_FAULT_REPORT</c>: a directory that gets one JSON file a row and tier; absent for none.</item>
/// <item><c>LIGHTQ_COMMIT</c>: the version that runs, for the report.</item>
/// </list>
/// </remarks>
internal sealed class FaultRun
{
    private static readonly JsonSerializerOptions Indented = new() { WriteIndented = true };

    private readonly Stopwatch _watch = Stopwatch.StartNew();
    private readonly SortedDictionary<string, long> _counts = new(StringComparer.Ordinal);
    private readonly string _id;
    private readonly string _fault;

    /// <param name="id">
    /// The row, such as <c>D1</c>; with a part behind a dot if several tests make up the row, such as <c>D6.index</c>.
    /// </param>
    /// <param name="fault">What is done to the broker or its files, in a few words.</param>
    public FaultRun(string id, string fault)
    {
        (_id, _fault) = (id, fault);
        Seed = NewSeed();
        TestContext.Current.TestOutputHelper?.WriteLine(
            $"{id}: repeat with LIGHTQ_SEED={Seed.ToString(CultureInfo.InvariantCulture)}"
        );
    }

    /// <summary>The tier that runs: <c>""</c>, <c>C</c> or <c>N</c>.</summary>
    public static string Tier => Environment.GetEnvironmentVariable("LIGHTQ_TIER") ?? "";

    /// <summary>What everything random in the run follows from. Part of every failure's message.</summary>
    public int Seed { get; }

    /// <summary>One of the figures so far.</summary>
    public long this[string figure] => _counts.GetValueOrDefault(figure);

    /// <summary>The seed to repeat, or a new one: for what is random and no row of the matrix.</summary>
    public static int NewSeed() =>
        int.TryParse(Environment.GetEnvironmentVariable("LIGHTQ_SEED"), CultureInfo.InvariantCulture, out int seed)
            ? seed
            : Random.Shared.Next();

    /// <summary>Skips what is too slow for a run without a tier; it carries <c>[Trait("Tier", "C")]</c>.</summary>
    public static void RequireTier(string reason) =>
        Assert.SkipUnless(Tier is "C" or "N", $"{reason} Run it with LIGHTQ_TIER=C.");

    /// <summary>Skips what is for the long run on demand only; it carries <c>[Trait("Tier", "N")]</c>.</summary>
    public static void RequireLongRun(string reason) =>
        Assert.SkipUnless(Tier is "N", $"{reason} Run it with LIGHTQ_TIER=N.");

    /// <summary>How often something is done in this tier.</summary>
    public static int Times(int plain, int c, int n) =>
        Tier switch
        {
            "N" => n,
            "C" => c,
            _ => plain,
        };

    /// <summary>How often something is done that runs in these tiers only.</summary>
    public static int Times(int c, int n) => Tier is "N" ? n : c;

    /// <summary>A generator of its own for one cycle, so that a cycle repeats without those before it.</summary>
    public Random RandomFor(int cycle) => new(HashCode(Seed, cycle));

    /// <summary>
    /// Adds to one of the figures of the report, such as <c>cycles</c>, <c>acknowledged</c> or <c>lost</c>.
    /// </summary>
    public void Count(string figure, long by = 1) => _counts[figure] = _counts.GetValueOrDefault(figure) + by;

    /// <summary>Sets one of the figures of the report, such as <c>ready p99 ms</c>.</summary>
    public void Figure(string figure, long value) => _counts[figure] = value;

    /// <summary>Writes the row, whatever came out; call it before the assertions.</summary>
    public void Report()
    {
        string figures = string.Join(", ", _counts.Select(c => FormattableString.Invariant($"{c.Key} {c.Value}")));
        TestContext.Current.TestOutputHelper?.WriteLine($"{_id}: {figures}");
        if (Environment.GetEnvironmentVariable("LIGHTQ_FAULT_REPORT") is not { Length: > 0 } directory)
            return;
        Directory.CreateDirectory(directory);
        string commit = Environment.GetEnvironmentVariable("LIGHTQ_COMMIT") ?? "";
        var row = new
        {
            id = _id,
            fault = _fault,
            tier = Tier,
            commit,
            seed = Seed,
            seconds = Math.Round(_watch.Elapsed.TotalSeconds),
            counts = _counts,
        };
        File.WriteAllText(
            Path.Combine(directory, $"{_id}.{Tier}.json"),
            JsonSerializer.Serialize(row, Indented) + "\n"
        );
    }

    // Not System.HashCode, which differs from process to process.
    private static int HashCode(int seed, int cycle) => unchecked((seed * 31) ^ (cycle * (int)2654435761));
}

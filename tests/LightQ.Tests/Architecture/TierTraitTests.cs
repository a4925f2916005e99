using System.Text.RegularExpressions;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>A plain <c>dotnet test</c> chooses its tests by their traits; those must say what the tests do.</summary>
public sealed partial class TierTraitTests
{
    private const string LeftOut = "[Trait(\"Plain\", \"no\")]";

    [Fact]
    public void A_test_that_needs_a_tier_is_left_out_of_plain_runs_and_no_other_is()
    {
        var wrong = new List<string>();
        int tests = 0;
        foreach (
            string path in Directory
                .EnumerateFiles(Path.Combine(SourceTree.Root, "tests"), "*Tests.cs", SearchOption.AllDirectories)
                .Where(path => Path.GetFileName(path) is not (nameof(TierTraitTests) + ".cs"))
        )
        {
            // What lies between one [Fact] or [Theory] and the next is one test, with the private members behind it.
            foreach (string test in Test().Split(File.ReadAllText(path)).Skip(1))
            {
                if (NeedsTier().IsMatch(test) == test.Contains(LeftOut, StringComparison.Ordinal))
                    tests++;
                else
                    wrong.Add($"{Path.GetFileName(path)}: {Name().Match(test).Value}");
            }
        }

        Assert.Empty(wrong);
        Assert.True(tests > 1000, $"Only {tests} tests were found.");
    }

    [GeneratedRegex(@"^    \[(?:Fact|Theory)\b", RegexOptions.Multiline)]
    private static partial Regex Test();

    [GeneratedRegex(@"FaultRun\.Require(?:Tier|LongRun)\(|LoopFileSystem\.Create\(")]
    private static partial Regex NeedsTier();

    [GeneratedRegex(@"(?<=public (?:async Task|void|Task) )\w+")]
    private static partial Regex Name();
}

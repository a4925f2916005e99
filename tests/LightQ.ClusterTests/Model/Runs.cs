using Xunit;

namespace LightQ.ClusterTests.Model;

/// <summary>Searches with what came out in the test's output.</summary>
internal static class Runs
{
    /// <summary>One that finds nothing.</summary>
    public static Search Clean(Bounds bounds, Dropped dropped = Dropped.Nothing)
    {
        Search search = Run(bounds, dropped);
        Assert.True(search.Violation is Violation.None, search.Trace);
        return search;
    }

    /// <summary>One that finds this, whose trace says how.</summary>
    public static Search Found(Violation violation, Bounds bounds, Dropped dropped)
    {
        Search search = Run(bounds, dropped);
        Assert.True(search.Violation == violation, $"Found {search.Violation} and not {violation}.\n{search.Trace}");
        return search;
    }

    public static void HasReached(Search search, Reached wanted) =>
        Assert.Equal(Reached.Nothing, wanted & ~search.Reached);

    private static Search Run(Bounds bounds, Dropped dropped)
    {
        Search search = Search.Run(bounds, dropped);
        TestContext.Current.TestOutputHelper?.WriteLine(
            $"{bounds} without {dropped}: {search.States} states, {search.Steps} steps, {search.Violation}, "
                + $"reached {search.Reached}\n{search.Trace}"
        );
        return search;
    }
}

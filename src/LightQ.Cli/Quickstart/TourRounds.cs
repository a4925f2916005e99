using LightQ.Bench;
using LightQ.Bench.Sessions;

namespace LightQ.Cli.Quickstart;

/// <summary>Runs every shape of load once to warm up, then all of them in turns.</summary>
/// <remarks>
/// The first two million messages of new processes, whatever their shape, go through code that is not compiled for
/// speed yet, at a quarter of the rate. So no shape is measured before each has had a run, and a busy moment of the
/// machine meets all of them alike.
/// </remarks>
internal static class TourRounds
{
    /// <summary>How often each shape is measured.</summary>
    public const int Measured = 3;

    /// <summary>Runs them.</summary>
    /// <param name="shapes">In the order of a round.</param>
    /// <param name="run">Makes one run of a shape; round 0 is the warm-up.</param>
    /// <returns>The runs of each shape, in the order of the shapes.</returns>
    public static async Task<IReadOnlyList<TourRuns>> RunAsync(
        IReadOnlyList<LoadShape> shapes,
        Func<LoadShape, int, Task<RunOutcome>> run
    )
    {
        var warmUps = new List<RunOutcome>();
        foreach (LoadShape shape in shapes)
            warmUps.Add(await run(shape, 0));
        List<RunOutcome>[] measured = [.. shapes.Select(_ => new List<RunOutcome>())];
        for (int round = 1; round <= Measured; round++)
        {
            for (int i = 0; i < shapes.Count; i++)
                measured[i].Add(await run(shapes[i], round));
        }
        return [.. shapes.Select((shape, i) => new TourRuns(shape, warmUps[i], measured[i]))];
    }
}

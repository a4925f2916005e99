using LightQ.Client;
using LightQ.Storage.Recovery;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// N6: SIGTERM under load. Nothing that was acknowledged is lost, at no ack level, and the next start has nothing to
/// look for.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "N6")]
[Trait("Tier", "C")]
public sealed class TerminationTests
{
    private const int Lanes = 4;
    private static readonly TimeSpan Target = TimeSpan.FromSeconds(10);

    private readonly Lock _lock = new();
    private readonly List<string> _violations = [];
    private TimeSpan _longest;

    [Fact]
    [Trait("Plain", "no")]
    public async Task SIGTERM_loses_nothing_that_was_acknowledged_and_the_next_start_scans_nothing()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "It sends a signal.");
        var run = new FaultRun("N6", "SIGTERM after 50 to 300 ms, 4 producers, 4 consumers, all ack levels");
        FaultRun.RequireTier("It starts brokers again and again.");
        int each = FaultRun.Times(c: 12, n: 400) / Lanes;
        using var directory = new TemporaryDirectory();
        await Task.WhenAll(
            Enumerable
                .Range(0, Lanes)
                .Select(lane => RunAsync(run, lane, each, Path.Combine(directory.Path, $"data-{lane}")))
        );

        run.Figure("longest stop ms", (long)_longest.TotalMilliseconds);
        run.Report();
        Assert.True(_violations.Count == 0, $"LIGHTQ_SEED={run.Seed}:\n{string.Join('\n', _violations.Take(40))}");
        Assert.Equal(0, run["lost as the ack allows"]);
        Assert.True(_longest <= Target, $"a stop took {_longest}; the target is {Target}");
    }

    private async Task RunAsync(FaultRun run, int lane, int cycles, string directory)
    {
        await using var broker = new FaultBroker(directory, ("StopTimeout", "2s"));
        await using var load = new FaultLoad(lane, Durability.Memory);
        List<string> violations = [];
        await broker.StartAsync();
        await load.BeginAsync(broker);
        for (int cycle = 0; cycle < cycles && violations.Count == 0 && !load.Violations.Any(); cycle++)
        {
            Random random = run.RandomFor((lane << 20) + cycle);
            (int code, TimeSpan took) = await TerminateUnderLoadAsync(broker, load, random);
            if (code != 0)
                violations.Add($"the broker ended with {code}:\n{broker.Log}");
            string[] open = [.. NotClosed(directory)];
            violations.AddRange(open.Select(journal => $"{journal} is to be scanned at the next start"));
            await broker.StartAsync();
            await load.VerifyAsync();
            lock (_lock)
            {
                run.Count("cycles");
                run.Count("journals to be scanned", open.Length);
                _longest = took > _longest ? took : _longest;
            }
        }
        if (!load.Violations.Any())
            await load.VerifyAllAsync();
        lock (_lock)
        {
            load.AddTo(run);
            _violations.AddRange([.. violations, .. load.Violations]);
        }
    }

    private static async Task<(int ExitCode, TimeSpan Took)> TerminateUnderLoadAsync(
        FaultBroker broker,
        FaultLoad load,
        Random random
    )
    {
        using var stop = new CancellationTokenSource();
        Task working = load.RunAsync(random, stop.Token);
        await Task.Delay(random.Next(50, 300), TestContext.Current.CancellationToken);
        (int, TimeSpan) ended = await broker.TerminateAsync();
        await stop.CancelAsync();
        await working;
        return ended;
    }

    /// <summary>Journals whose newest checkpoint does not say that nothing follows it.</summary>
    private static IEnumerable<string> NotClosed(string directory)
    {
        foreach (
            string path in Directory.EnumerateFiles(
                Path.Combine(directory, "topics"),
                CheckpointFile.Name,
                SearchOption.AllDirectories
            )
        )
        {
            byte[] content = File.ReadAllBytes(path);
            IEnumerable<Checkpoint> slots = new[] { 0, Checkpoint.SlotSize }
                .Select(at =>
                    Checkpoint.TryRead(content.AsSpan(at, Checkpoint.SlotSize), out Checkpoint slot) ? slot : default
                )
                .Where(slot => slot != default);
            if (!slots.Any() || !slots.MaxBy(slot => slot.Generation).Clean)
                yield return path;
        }
    }
}

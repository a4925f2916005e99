using LightQ.Protocol;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>D1: the broker is killed at any moment, also while it recovers, and started again on what it left.</summary>
[Trait("Fault", "D1")]
[Trait("Tier", "C")]
public sealed class KillTests
{
    private const int CyclesOfADirectory = 25;
    private const int Lanes = 2;
    private static readonly TimeSpan ReadyLimit = TimeSpan.FromSeconds(5);

    [Fact]
    public async Task Kill_9_loses_nothing_that_was_written_and_repeats_nothing_of_idempotent_producers()
    {
        var run = new FaultRun("D1", "kill -9 after 20 to 500 ms, 4 producers, 4 consumers, all ack levels");
        var sample = new ReadyTimes();
        var violations = new List<string>();
        int directories = Math.Max(Lanes, FaultRun.Times(plain: 4, c: 100, n: 2_000) / CyclesOfADirectory);
        int cycles = FaultRun.Times(plain: 4, c: 100, n: 2_000) / directories;
        var options = new ParallelOptions { MaxDegreeOfParallelism = Lanes, CancellationToken = TestContext.Current.CancellationToken };
        await Parallel.ForAsync(0, directories, options, async (number, _) => await RunDirectoryAsync(number));
        sample.AddTo(run);
        run.Report();

        Assert.True(violations.Count == 0, $"LIGHTQ_SEED={run.Seed}:\n{string.Join('\n', violations.Take(40))}");
        // The control: acks that promise nothing are lost now and then, so the kills do hit what is under way.
        Assert.True(FaultRun.Tier.Length == 0 || run["lost as the ack allows"] > 0, "No kill hit anything that was not yet written.");
        Assert.True(sample.P99 <= ReadyLimit, $"ready p99 {sample.P99}");

        async Task RunDirectoryAsync(int number)
        {
            using var directory = new TemporaryDirectory();
            await using var broker = new FaultBroker(directory.File("data"));
            await using var load = new FaultLoad(number, Durability.Written);
            await broker.StartAsync();
            await load.BeginAsync(broker);
            for (int cycle = 0; cycle < cycles && !load.Violations.Any(); cycle++)
            {
                Random random = run.RandomFor((number * CyclesOfADirectory) + cycle);
                await CrashAsync(broker, load, random);
                if (random.Next(8) == 0)
                    await broker.StartAndKillAsync(TimeSpan.FromMilliseconds(random.Next(50, 600)));
                await broker.StartAsync();
                sample.Add(broker);
                await load.VerifyAsync();
                lock (violations)
                    run.Count("cycles");
            }
            if (!load.Violations.Any())
                await load.VerifyAllAsync();
            lock (violations)
            {
                load.AddTo(run);
                if (load.Violations.Any())
                    violations.AddRange([.. load.Violations, $"the data is kept in {Evidence.Keep("D1", run.Seed, broker.Directory)}"]);
            }
        }
    }

    private static async Task CrashAsync(FaultBroker broker, FaultLoad load, Random random)
    {
        using var stop = new CancellationTokenSource();
        Task working = load.RunAsync(random, stop.Token);
        await Task.Delay(random.Next(20, 500), TestContext.Current.CancellationToken);
        await broker.KillAsync();
        await stop.CancelAsync();
        await working;
    }
}

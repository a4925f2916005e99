using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// Load, crash, restart, verify, again and again on one data directory and then on the next. Several can run beside
/// each other.
/// </summary>
/// <param name="run">The run and its figures.</param>
/// <param name="id">The row, for what is kept of a failure.</param>
/// <param name="makeLoad">
/// Makes the load of a data directory: the directory's number, which tells variants apart, and that of its first cycle.
/// </param>
/// <param name="control">
/// The figure that shows that the crashes hit what is under way: in 30 cycles or more it must not be 0.
/// </param>
internal sealed class CrashCycles(FaultRun run, string id, Func<int, int, ICrashLoad> makeLoad, string control)
{
    private const int CyclesOfADirectory = 25,
        EnoughCycles = 30;
    private static readonly TimeSpan ReadyLimit = TimeSpan.FromSeconds(5);

    private readonly Lock _lock = new();
    private readonly ReadyTimes _ready = new();
    private readonly List<string> _violations = [];

    /// <summary>Variables in the environment of the brokers.</summary>
    public IEnumerable<(string Name, string Value)> Variables { get; init; } = [];

    /// <summary>Runs cycles until there are enough, or one shows a violation.</summary>
    /// <param name="lane">Tells those apart that run beside each other.</param>
    /// <param name="cycles">How many.</param>
    /// <param name="parent">Where data directories are made.</param>
    /// <param name="crash">Ends the broker and does what there is to be done before it can be started again.</param>
    public async Task RunAsync(int lane, int cycles, string parent, Func<FaultBroker, Random, Task> crash)
    {
        for (int done = 0; done < cycles && _violations.Count == 0; done += CyclesOfADirectory)
        {
            string directory = Path.Combine(parent, $"data-{lane}-{done}");
            await RunDirectoryAsync(
                lane + (done / CyclesOfADirectory),
                (lane << 20) + done,
                Math.Min(CyclesOfADirectory, cycles - done),
                directory,
                crash
            );
            Directory.Delete(directory, recursive: true);
        }
    }

    /// <summary>Writes the report and judges.</summary>
    public void Conclude()
    {
        _ready.AddTo(run);
        run.Report();
        Assert.True(_violations.Count == 0, $"LIGHTQ_SEED={run.Seed}:\n{string.Join('\n', _violations.Take(40))}");
        Assert.True(
            run["cycles"] < EnoughCycles || run[control] > 0,
            $"'{control}' is 0: the crashes have missed what was under way."
        );
        Assert.True(_ready.Median <= ReadyLimit, $"ready p50 {_ready.Median}");
    }

    /// <summary>Counts something that happens in a lane.</summary>
    public void Count(string figure)
    {
        lock (_lock)
            run.Count(figure);
    }

    private async Task RunDirectoryAsync(
        int variant,
        int firstCycle,
        int cycles,
        string directory,
        Func<FaultBroker, Random, Task> crash
    )
    {
        await using var broker = new FaultBroker(directory, ("Broker:CheckpointInterval", "100ms"))
        {
            Variables = Variables,
        };
        await using ICrashLoad load = makeLoad(variant, firstCycle);
        var violations = new List<string>();
        try
        {
            await RunCyclesAsync(firstCycle, cycles, broker, load, crash);
        }
        catch (Exception e) when (e is not OperationCanceledException)
        {
            violations.Add(e.ToString()); // Fails the test at the end, with the evidence.
        }
        violations.AddRange(load.Violations);
        await broker.DisposeAsync();
        lock (_lock)
        {
            load.AddTo(run);
            if (violations.Count != 0)
            {
                _violations.AddRange([
                    .. violations,
                    $"the broker said:\n{broker.Log}",
                    $"the data is kept in {Evidence.Keep(id, run.Seed, directory)}",
                ]);
            }
        }
    }

    private async Task RunCyclesAsync(
        int firstCycle,
        int cycles,
        FaultBroker broker,
        ICrashLoad load,
        Func<FaultBroker, Random, Task> crash
    )
    {
        await broker.StartAsync();
        await load.BeginAsync(broker);
        for (int cycle = 0; cycle < cycles && !load.Violations.Any(); cycle++)
        {
            Random random = run.RandomFor(firstCycle + cycle);
            await CrashUnderLoadAsync(broker, load, random, crash);
            if (random.Next(8) == 0)
            {
                broker.Begin();
                await Task.Delay(random.Next(50, 800), TestContext.Current.CancellationToken);
                await crash(broker, random);
                Count("crashes of a start");
            }
            await broker.StartAsync();
            _ready.Add(broker);
            await load.VerifyAsync();
            Count("cycles");
        }
        if (!load.Violations.Any())
            await load.VerifyAllAsync();
    }

    private static async Task CrashUnderLoadAsync(
        FaultBroker broker,
        ICrashLoad load,
        Random random,
        Func<FaultBroker, Random, Task> crash
    )
    {
        using var stop = new CancellationTokenSource();
        Task working = load.RunAsync(random, stop.Token);
        await load.UnderWay;
        await Task.Delay(random.Next(20, 500), TestContext.Current.CancellationToken);
        await crash(broker, random);
        await stop.CancelAsync();
        await working;
    }
}

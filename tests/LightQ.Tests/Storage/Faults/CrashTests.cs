using System.Collections.Concurrent;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage.Faults;

/// <summary>
/// The power goes, or the process is killed, after each change of the disk; then again during or after the start that
/// follows.
/// </summary>
public sealed class CrashTests
{
    private const int BatchOfStates = 256;

    [Fact]
    [Trait("Fault", "D3")]
    [Trait("Tier", "C")]
    public void A_crash_at_any_operation_loses_nothing_acknowledged_and_invents_nothing()
    {
        var run = new FaultRun("D3", "crash after every change of the disk");
        int changes = FaultRun.Times(40, 1000, 2000),
            rounds = FaultRun.Times(1, 1, 10);
        var violations = new ConcurrentQueue<string>();
        for (int round = 0; round < rounds; round++)
        {
            using var workload = new CrashWorkload(run.RandomFor(round));
            workload.Run(changes);
            run.Count("changes", workload.Files.Now);
            run.Count("acknowledged", workload.Journals.Sum(journal => journal.ViewAt(workload.Files.Now).Durable));
            Crash(run, round, workload, violations);
        }
        run.Count("violations", violations.Count);
        run.Report();
        Assert.True(
            violations.IsEmpty,
            $"Seed {run.Seed}: {violations.Count} violations.\n{string.Join('\n', violations.Take(20))}"
        );
    }

    private static void Crash(FaultRun run, int round, CrashWorkload workload, ConcurrentQueue<string> violations)
    {
        var disk = new SimulatedDisk();
        var states = new List<CrashState>();
        IReadOnlyList<DiskOperation> operations = workload.Files.Operations;
        for (int now = 0; now <= operations.Count; now++)
        {
            if (now > 0)
                disk.Apply(operations[now - 1]);
            foreach (CrashKind kind in Enum.GetValues<CrashKind>())
            {
                Random random = run.RandomFor((((round * 10_000) + now) * 4) + (int)kind);
                states.Add(new CrashState(workload, now, kind, disk.Crash(kind, random), random));
            }
            if (states.Count < BatchOfStates && now < operations.Count)
                continue;
            Parallel.ForEach(states, state => state.Verify(violations));
            run.Count("states", states.Count);
            run.Count("second crashes", states.Count);
            states.Clear();
        }
    }
}

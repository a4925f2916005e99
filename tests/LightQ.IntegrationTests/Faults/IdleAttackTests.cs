using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Bench.Processes;
using LightQ.Bench.Roles;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// N3: thousands of connections that say nothing, frames byte by byte and subscribers that do not read, beside a
/// healthy load.
/// </summary>
/// <remarks>
/// The load is measured in peace and while the broker is attacked, in turn, and the medians are compared: of two runs
/// in peace one has three times the p99 of the other. The broker has been attacked before, so that what it does
/// about it is compiled, as it is in a broker that has run for a while. This process only waits meanwhile: load, broker
/// and attackers have the processors to themselves.
/// </remarks>
[Collection(FaultCollection.Name)]
[Trait("Fault", "N3")]
[Trait("Tier", "C")]
public sealed class IdleAttackTests
{
    private const double TargetRatio = 2;
    private const string Healthy = "healthy";

    /// <summary>What the broker and this process need besides.</summary>
    private const int OtherDescriptors = 600;

    private static readonly int WarmUpAttacks = FaultRun.Times(c: 1, n: 2);

    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(2),
        Calm = TimeSpan.FromSeconds(8),
        Attack = TimeSpan.FromSeconds(19);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    public async Task Peers_that_say_nothing_or_do_not_read_are_closed_in_time_and_leave_nothing_behind()
    {
        AttackProcess.Require();
        var run = new FaultRun(
            "N3",
            "silent connections, frames byte by byte, subscribers that do not read, beside a load"
        );
        FaultRun.RequireTier("It opens thousands of connections.");
        int silent = Math.Min(5_000, DescriptorLimit.Read() - OtherDescriptors);
        using var directory = new TemporaryDirectory();
        await using FaultBroker broker = await StartAsync(directory);
        using IdleAttack attack = await IdleAttack.PrepareAsync(broker, silent);
        using var load = new HealthyLoad(broker, Healthy);
        await load.RunAsync(WarmUp);
        for (int i = 0; i < WarmUpAttacks; i++)
            await MeasureAsync(load, attack);
        var rounds = new List<(double Calm, Round Attacked)>();
        for (int i = FaultRun.Times(c: 1, n: 15); i > 0; i--)
            rounds.Add(((await load.RunAsync(Calm)).LatencyUs!.P99, await MeasureAsync(load, attack)));

        double calm = Median.Of(rounds.Select(r => r.Calm)),
            attacked = Median.Of(rounds.Select(r => r.Attacked.P99));
        run.Figure("rounds", rounds.Count);
        run.Figure("connections", rounds.Min(r => r.Attacked.Attack.Connections));
        run.Figure("opened in ms", rounds.Max(r => r.Attacked.Attack.OpenedMilliseconds));
        run.Figure("all closed after ms", rounds.Max(r => r.Attacked.Attack.ClosedMilliseconds));
        run.Figure("still open", rounds.Sum(r => r.Attacked.Attack.StillOpen));
        run.Figure("p99 us, calm", (long)calm);
        run.Figure("p99 us, attacked", (long)attacked);
        run.Figure("descriptors, before", rounds[0].Attacked.Attack.DescriptorsBefore);
        run.Figure("descriptors, all open", rounds.Max(r => r.Attacked.Attack.DescriptorsAllOpen));
        run.Figure("descriptors, after", ProcessFigures.Descriptors(broker.ProcessId));
        run.Figure("resident MiB, before", rounds[0].Attacked.Attack.ResidentMiBBefore);
        run.Figure("resident MiB, all open", rounds.Max(r => r.Attacked.Attack.ResidentMiBAllOpen));
        run.Figure("resident MiB, after", ProcessFigures.ResidentMiB(broker.ProcessId));
        run.Figure("lost", rounds.Sum(r => r.Attacked.Lost));
        run.Report();
        Assert.Equal(0, run["still open"]);
        Assert.Equal(0, run["lost"]);
        Assert.True(run["descriptors, all open"] >= silent, "the silent connections were not all there at once");
        Assert.True(
            run["descriptors, after"] <= run["descriptors, before"] + IdleAttack.DescriptorSlack,
            "the broker keeps descriptors"
        );
        Assert.True(run["resident MiB, after"] - run["resident MiB, before"] < 128, "the broker keeps memory");
        string metrics = await MetricsAsync(broker);
        Assert.True(
            Refusals(metrics, "DataPlane:HandshakeTimeout") >= silent * (rounds.Count + WarmUpAttacks),
            $"not every silent connection was ended for its silence:\n{metrics}"
        );
        Assert.NotEqual(0, Refusals(metrics, "DataPlane:MinFrameBytesPerSecond"));
        Assert.NotEqual(0, Refusals(metrics, "DataPlane:StalledReaderTimeout"));
        Assert.InRange(
            broker.Log.Split('\n').Count(l => l.Contains("DataPlane:HandshakeTimeout", StringComparison.Ordinal)),
            1,
            20 * (rounds.Count + WarmUpAttacks)
        );
        Assert.True(
            attacked <= 10 * TargetRatio * calm,
            $"p99 is {attacked} us, and {calm} us in peace; target {TargetRatio} times"
        );
    }

    /// <summary>The load during one attack.</summary>
    private static async Task<Round> MeasureAsync(HealthyLoad load, IdleAttack attack)
    {
        Task<RoleMessage> loading = load.RunAsync(Attack);
        IdleAttackFigures attacked = await attack.RunAsync();
        RoleMessage loaded = await loading;
        return new(loaded.LatencyUs!.P99, loaded.Lost, attacked);
    }

    private static long Refusals(string metrics, string limit)
    {
        string name = $"lightq_limit_refusals_total{{limit=\"{limit}\"}} ";
        return long.Parse(
            metrics.Split('\n').Single(l => l.StartsWith(name, StringComparison.Ordinal))[name.Length..],
            CultureInfo.InvariantCulture
        );
    }

    /// <summary>
    /// A broker that takes all connections, waits for a Hello until all are there, and is less patient than by default
    /// with those that have said it.
    /// </summary>
    private static async Task<FaultBroker> StartAsync(TemporaryDirectory directory)
    {
        var broker = new FaultBroker(
            directory.Path,
            ("DataPlane:HandshakeTimeout", "9s"),
            ("DataPlane:Heartbeat", "2s"),
            ("DataPlane:FrameGrace", "2s"),
            ("DataPlane:StalledReaderTimeout", "4s"),
            ("DataPlane:MaxConnections", "20000"),
            ("DataPlane:MaxUnauthenticatedConnections", "20000")
        );
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(new TopicSpec(Healthy) { Kind = TopicKind.Transient }, Cancel);
        await client.Topics.CreateAsync(
            new TopicSpec(IdleAttack.Topic) { Kind = TopicKind.Transient, SlowPolicy = SlowPolicy.DropOldest },
            Cancel
        );
        return broker;
    }

    private static async Task<string> MetricsAsync(FaultBroker broker)
    {
        using var http = new HttpClient();
        return await http.GetStringAsync(
            FormattableString.Invariant($"http://127.0.0.1:{broker.WebPort}/metrics"),
            Cancel
        );
    }

    private readonly record struct Round(double P99, long Lost, IdleAttackFigures Attack);
}

using LightQ.Bench.Figures;
using LightQ.Bench.Roles;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Faults;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Security;

/// <summary>S3: wrong logins beside a healthy load.</summary>
/// <remarks>
/// Broker, load and guessers are processes of their own. The load is measured in peace and beside the guesses, in turn,
/// and the medians are compared.
/// </remarks>
[Collection(FaultCollection.Name)]
[Trait("Fault", "S3")]
[Trait("Tier", "C")]
public sealed class WrongLoginTests
{
    private const string Healthy = "healthy",
        Password = "correct horse battery staple";
    private const double TargetRatio = 1.5;

    /// <summary>How often the load is measured beside the guesses for once in peace.</summary>
    private const int WindowsOfAttack = 2;

    private static readonly int LeastRounds = FaultRun.Times(c: 2, n: 5);

    /// <summary>
    /// How long it is measured each time: the same in peace and beside the guesses, since a p99 of longer windows has
    /// another median.
    /// </summary>
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(FaultRun.Times(c: 3, n: 10));

    /// <summary>No processor makes 600,000 rounds of HMAC-SHA-256 in less.</summary>
    private static readonly TimeSpan LeastHash = TimeSpan.FromMilliseconds(20);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    public async Task Wrong_logins_are_all_refused_and_a_load_beside_them_goes_on()
    {
        AttackProcess.Require();
        var run = new FaultRun("S3.logins", "wrong logins on both planes beside a load");
        FaultRun.RequireTier("It measures for minutes.");
        int wanted = FaultRun.Times(c: 200, n: 20_000);
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path, ("RequireAuth", "true"));
        await broker.StartAsync();
        using var load = new HealthyLoad(broker, Healthy, await PrepareAsync(broker));
        using LoginAttack attack = await LoginAttack.PrepareAsync(broker);
        // The first one warms up; its guesses count, its times do not.
        List<Round> rounds = [await MeasureAsync(broker, load, attack)];
        var calm = new List<double>();
        while (calm.Count < LeastRounds || rounds.Sum(r => r.Refused) < wanted)
        {
            calm.Add((await load.RunAsync(Window)).LatencyUs!.P99);
            rounds.Add(await MeasureAsync(broker, load, attack));
        }

        double calmP99 = Median.Of(calm),
            attackedP99 = Median.Of(rounds.Skip(1).SelectMany(r => r.P99));
        int refused = rounds.Sum(r => r.Refused);
        TimeSpan cpu = rounds.Aggregate(TimeSpan.Zero, (sum, r) => sum + r.Cpu);
        run.Figure("rounds", calm.Count);
        run.Figure("wrong logins", refused);
        run.Figure("violations", rounds.Sum(r => r.Unexpected));
        run.Figure("lost", rounds.Sum(r => r.Lost));
        run.Figure(
            "broker's CPU while attacked, % of a processor",
            (long)(100 * cpu / (rounds.Count * WindowsOfAttack * Window))
        );
        run.Figure("p99 us, calm", (long)calmP99);
        run.Figure("p99 us, attacked", (long)attackedP99);
        run.Report();
        Assert.Equal(0, run["violations"]);
        Assert.Equal(0, run["lost"]);
        Assert.True(
            cpu > LeastHash * (refused * 2 / LoginAttack.Cycle),
            $"the broker used {cpu} for {refused} logins: it has not hashed passwords"
        );
        Assert.True(
            attackedP99 <= 10 * TargetRatio * calmP99,
            $"p99 is {attackedP99} us, and {calmP99} us in peace; target {TargetRatio} times"
        );
    }

    /// <summary>The load while passwords are guessed, from before it begins until it has ended.</summary>
    private static async Task<Round> MeasureAsync(FaultBroker broker, HealthyLoad load, LoginAttack attack)
    {
        TimeSpan before = ProcessFigures.Cpu(broker.ProcessId);
        await attack.BeginAsync();
        var loaded = new List<RoleMessage>();
        for (int i = 0; i < WindowsOfAttack; i++)
            loaded.Add(await load.RunAsync(Window));
        (int refused, int unexpected) = await attack.EndAsync();
        return new(
            [.. loaded.Select(l => l.LatencyUs!.P99)],
            loaded.Sum(l => l.Lost),
            refused,
            unexpected,
            ProcessFigures.Cpu(broker.ProcessId) - before
        );
    }

    /// <summary>A topic, who guesses are made about, and a token for the load.</summary>
    private static async Task<string> PrepareAsync(FaultBroker broker)
    {
        await using LightQClient admin = broker.ConnectAsAdmin();
        await admin.Topics.CreateAsync(new TopicSpec(Healthy) { Kind = TopicKind.Transient }, Cancel);
        await admin.Users.CreateAsync(LoginAttack.User, Password, Cancel);
        await admin.Users.CreateAsync("alice", password: null, Cancel);
        await admin.Users.GrantAsync("alice", UserRight.Publish, Healthy, Cancel);
        await admin.Users.GrantAsync("alice", UserRight.Consume, Healthy, Cancel);
        return (await admin.Users.CreateTokenAsync("alice", cancellationToken: Cancel)).Token;
    }

    private readonly record struct Round(double[] P99, long Lost, int Refused, int Unexpected, TimeSpan Cpu);
}

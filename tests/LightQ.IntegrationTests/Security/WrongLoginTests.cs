using LightQ.Cli.Bench.Report;
using LightQ.Cli.Bench.Roles;
using LightQ.Client;
using LightQ.IntegrationTests.Faults;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Security;

/// <summary>S3: wrong logins beside a healthy load.</summary>
/// <remarks>Broker, load and guessers are processes of their own. The load is measured in peace and beside the guesses, in turn, and the medians are compared.</remarks>
[Collection(FaultCollection.Name)]
[Trait("Fault", "S3")]
[Trait("Tier", "C")]
public sealed class WrongLoginTests
{
    private const string Healthy = "healthy", Password = "correct horse battery staple";
    private const double TargetRatio = 1.5;
    private const int LeastRounds = 5;
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(12);

    /// <summary>As long in peace as beside the guesses: what befalls a machine now and then weighs more in a short run than in a long one.</summary>
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(20);

    /// <summary>No processor makes 600,000 rounds of HMAC-SHA-256 in less.</summary>
    private static readonly TimeSpan LeastHash = TimeSpan.FromMilliseconds(20);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Wrong_logins_are_all_refused_and_a_load_beside_them_goes_on()
    {
        AttackProcess.Require();
        var run = new FaultRun("S3.logins", "wrong logins on both planes beside a load");
        FaultRun.RequireTier("It measures for minutes.");
        int wanted = FaultRun.Times(c: 2_000, n: 20_000);
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path, ("RequireAuth", "true"));
        await broker.StartAsync();
        using var load = new HealthyLoad(broker, Healthy, await PrepareAsync(broker));
        using LoginAttack attack = await LoginAttack.PrepareAsync(broker);
        Round warmUp = await MeasureAsync(broker, load, attack, WarmUp);
        var rounds = new List<(double Calm, Round Attacked)>();
        while (rounds.Count < LeastRounds || Guesses().Sum(r => r.Refused) < wanted)
            rounds.Add(((await load.RunAsync(Window)).LatencyUs!.P99, await MeasureAsync(broker, load, attack, Window)));

        double calm = Median.Of(rounds.Select(r => r.Calm)), attacked = Median.Of(rounds.Select(r => r.Attacked.P99));
        int refused = Guesses().Sum(r => r.Refused);
        TimeSpan cpu = Guesses().Aggregate(TimeSpan.Zero, (sum, r) => sum + r.Cpu);
        run.Figure("rounds", rounds.Count);
        run.Figure("wrong logins", refused);
        run.Figure("violations", Guesses().Sum(r => r.Unexpected));
        run.Figure("lost", Guesses().Sum(r => r.Lost));
        run.Figure("broker's CPU while attacked, % of a processor", (long)(100 * cpu / (WarmUp + (rounds.Count * Window))));
        run.Figure("p99 us, calm", (long)calm);
        run.Figure("p99 us, attacked", (long)attacked);
        run.Report();
        Assert.Equal(0, run["violations"]);
        Assert.Equal(0, run["lost"]);
        Assert.True(cpu > LeastHash * (refused * 2 / LoginAttack.Cycle), $"the broker used {cpu} for {refused} logins: it has not hashed passwords");
        Assert.True(attacked <= 10 * TargetRatio * calm, $"p99 is {attacked} us, and {calm} us in peace; target {TargetRatio} times");

        IEnumerable<Round> Guesses() => rounds.Select(r => r.Attacked).Prepend(warmUp);
    }

    /// <summary>The load while passwords are guessed, from before it begins until it has ended.</summary>
    private static async Task<Round> MeasureAsync(FaultBroker broker, HealthyLoad load, LoginAttack attack, TimeSpan duration)
    {
        TimeSpan before = ProcessFigures.Cpu(broker.ProcessId);
        await attack.BeginAsync();
        RoleMessage loaded = await load.RunAsync(duration);
        (int refused, int unexpected) = await attack.EndAsync();
        return new(loaded.LatencyUs!.P99, loaded.Lost, refused, unexpected, ProcessFigures.Cpu(broker.ProcessId) - before);
    }

    /// <summary>A topic, who guesses are made about, and a token for the load.</summary>
    private static async Task<string> PrepareAsync(FaultBroker broker)
    {
        await using LightQClient admin = broker.ConnectAsAdmin();
        await admin.Topics.CreateAsync(new TopicSpec(Healthy), Cancel);
        await admin.Users.CreateAsync(LoginAttack.User, Password, Cancel);
        await admin.Users.CreateAsync("alice", password: null, Cancel);
        await admin.Users.GrantAsync("alice", UserRight.Publish, Healthy, Cancel);
        await admin.Users.GrantAsync("alice", UserRight.Consume, Healthy, Cancel);
        return (await admin.Users.CreateTokenAsync("alice", cancellationToken: Cancel)).Token;
    }

    private readonly record struct Round(double P99, long Lost, int Refused, int Unexpected, TimeSpan Cpu);
}

using System.Diagnostics;
using LightQ.Bench.Figures;
using LightQ.Bench.Roles;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>N7: floods of gRPC calls beside a load of messages and a client that calls now and then.</summary>
/// <remarks>Both are measured in peace and beside each kind of flood, in turn, and the medians are compared.</remarks>
[Collection(FaultCollection.Name)]
[Trait("Fault", "N7")]
[Trait("Tier", "C")]
public sealed class CallFloodTests
{
    private const string Healthy = "healthy",
        Calm = "calm";
    private const double TargetRatio = 2;
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(1.5),
        Pause = TimeSpan.FromMilliseconds(5);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    public async Task Clients_that_flood_the_control_port_leave_the_others_their_speed()
    {
        AttackProcess.Require();
        var run = new FaultRun("N7", "floods of gRPC calls beside a load and a client that calls");
        FaultRun.RequireTier("It measures for minutes.");
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(new TopicSpec(Healthy) { Kind = TopicKind.Transient }, Cancel);
        using var load = new HealthyLoad(broker, Healthy);
        using CallFlood flood = await CallFlood.PrepareAsync(broker);
        FloodKind?[] kinds = [null, .. Enum.GetValues<FloodKind>().Cast<FloodKind?>()];
        foreach (FloodKind? kind in kinds)
            await MeasureAsync(broker, client, load, flood, kind); // What the broker does about it is compiled.
        var rounds = kinds.ToDictionary(NameOf, _ => new List<Round>());
        for (int i = FaultRun.Times(c: 1, n: 15); i > 0; i--)
        {
            foreach (FloodKind? kind in kinds)
                rounds[NameOf(kind)].Add(await MeasureAsync(broker, client, load, flood, kind));
        }
        foreach ((string kind, List<Round> measured) in rounds)
        {
            run.Figure($"broker's CPU, % of a processor, {kind}", (long)Median.Of(measured.Select(r => r.Cpu)));
            run.Figure($"p99 us of calls, {kind}", (long)Median.Of(measured.Select(r => r.Calls)));
            run.Figure($"p99 us of messages, {kind}", (long)Median.Of(measured.Select(r => r.Messages)));
        }
        run.Figure("lost", rounds.Values.Sum(r => r.Sum(m => m.Lost)));
        run.Figure("rounds", rounds[Calm].Count);
        run.Report();
        Assert.Equal(0, run["lost"]);
        foreach (FloodKind kind in Enum.GetValues<FloodKind>())
        {
            foreach (string what in new[] { "calls", "messages" })
            {
                long calm = run[$"p99 us of {what}, {Calm}"],
                    flooded = run[$"p99 us of {what}, {NameOf(kind)}"];
                Assert.True(
                    flooded <= 10 * TargetRatio * calm,
                    $"p99 of {what} is {flooded} us beside a flood ({kind}), and {calm} us in peace; target "
                        + $"{TargetRatio} times"
                );
            }
        }
    }

    private static string NameOf(FloodKind? kind) => kind?.ToString().ToLowerInvariant() ?? Calm;

    private static async Task<Round> MeasureAsync(
        FaultBroker broker,
        LightQClient client,
        HealthyLoad load,
        CallFlood flood,
        FloodKind? kind
    )
    {
        TimeSpan before = ProcessFigures.Cpu(broker.ProcessId);
        var watch = Stopwatch.StartNew();
        if (kind is { } flooding)
            await flood.BeginAsync(flooding);
        Task<RoleMessage> loading = load.RunAsync(Window);
        var calls = new List<double>();
        while (!loading.IsCompleted)
        {
            long began = Stopwatch.GetTimestamp();
            await client.Topics.GetAsync(Healthy, Cancel);
            calls.Add(Stopwatch.GetElapsedTime(began).TotalMicroseconds);
            await Task.Delay(Pause, Cancel);
        }
        RoleMessage loaded = await loading;
        double seconds = watch.Elapsed.TotalSeconds;
        TimeSpan cpu = ProcessFigures.Cpu(broker.ProcessId) - before;
        if (kind is not null)
            Assert.NotEqual(0, await flood.EndAsync());
        calls.Sort();
        return new Round(
            loaded.LatencyUs!.P99,
            calls[calls.Count * 99 / 100],
            100 * cpu.TotalSeconds / seconds,
            loaded.Lost
        );
    }

    private readonly record struct Round(double Messages, double Calls, double Cpu, long Lost);
}

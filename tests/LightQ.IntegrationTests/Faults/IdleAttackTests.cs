using System.Diagnostics;
using System.Globalization;
using LightQ.Cli.Bench.Roles;
using LightQ.Cli.Hosting;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>N3: thousands of connections that say nothing, frames byte by byte and subscribers that do not read, beside a healthy load.</summary>
/// <remarks>
/// The load is measured three times: in peace, while the attack goes to another broker on the same machine, and while it goes to this one. The
/// second says what the attackers take of the processors, which those of a broker on a network would not; the third is compared with it.
/// </remarks>
[Collection(FaultCollection.Name)]
[Trait("Fault", "N3")]
[Trait("Tier", "C")]
public sealed class IdleAttackTests
{
    private const double TargetRatio = 2;

    /// <summary>What the broker and this process need besides.</summary>
    private const int OtherDescriptors = 600;

    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(2), Calm = TimeSpan.FromSeconds(3), Attack = TimeSpan.FromSeconds(10), Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Peers_that_say_nothing_or_do_not_read_are_closed_in_time_and_leave_nothing_behind()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "It looks into /proc.");
        var run = new FaultRun("N3", "silent connections, frames byte by byte, subscribers that do not read, beside a load");
        FaultRun.RequireTier("It opens thousands of connections.");
        int silent = Math.Min(FaultRun.Times(c: 5_000, n: 10_000), DescriptorLimit.Read() - OtherDescriptors);
        using var directory = new TemporaryDirectory();
        using var neighbours = new TemporaryDirectory();
        await using FaultBroker broker = await StartAsync(directory), neighbour = await StartAsync(neighbours);
        await using (LightQClient client = broker.Connect())
            await client.Topics.CreateAsync(new TopicSpec("healthy"), Cancel);
        using IdleAttack rehearsal = await IdleAttack.PrepareAsync(neighbour, silent), attack = await IdleAttack.PrepareAsync(broker, silent);
        using var load = new HealthyLoad(broker, "healthy");
        await load.RunAsync(WarmUp);
        RoleMessage calm = await load.RunAsync(Calm);
        Task<RoleMessage> loading = load.RunAsync(Attack);
        await rehearsal.BeginAsync();
        RoleMessage elsewhere = await loading;
        await rehearsal.EndAsync();

        int descriptors = ProcessFigures.Descriptors(broker.ProcessId);
        long resident = ProcessFigures.Resident(broker.ProcessId);
        loading = load.RunAsync(Attack);
        var took = Stopwatch.StartNew();
        Task<(int Connections, int Milliseconds)> opening = attack.BeginAsync();
        int most = 0;
        long mostResident = 0;
        await Eventually.TrueAsync(
            async () =>
            {
                await Task.Delay(500, Cancel); // Looking is work, too.
                int now = ProcessFigures.Descriptors(broker.ProcessId);
                most = Math.Max(most, now);
                mostResident = Math.Max(mostResident, ProcessFigures.Resident(broker.ProcessId));
                return opening.IsCompleted && now <= descriptors + 5;
            },
            Patience, () => $"the broker has {ProcessFigures.Descriptors(broker.ProcessId)} descriptors and had {descriptors}\n{broker.Log}");
        long closed = (long)took.Elapsed.TotalMilliseconds;
        RoleMessage attacked = await loading;
        int open = await attack.EndAsync();

        run.Figure("connections", (await opening).Connections);
        run.Figure("opened in ms", (await opening).Milliseconds);
        run.Figure("all closed after ms", closed);
        run.Figure("still open", open);
        run.Figure("p99 us, calm", (long)calm.LatencyUs!.P99);
        run.Figure("p99 us, another broker attacked", (long)elsewhere.LatencyUs!.P99);
        run.Figure("p99 us, attacked", (long)attacked.LatencyUs!.P99);
        run.Figure("descriptors, before", descriptors);
        run.Figure("descriptors, most", most);
        run.Figure("descriptors, after", ProcessFigures.Descriptors(broker.ProcessId));
        run.Figure("resident MiB, before", resident >> 20);
        run.Figure("resident MiB, most", mostResident >> 20);
        run.Figure("resident MiB, after", ProcessFigures.Resident(broker.ProcessId) >> 20);
        run.Figure("lost", attacked.Lost);
        run.Report();
        Assert.Equal(0, open);
        Assert.Equal(0, attacked.Lost);
        Assert.True(ProcessFigures.Resident(broker.ProcessId) - resident < 256L << 20, "the broker keeps memory");
        string metrics = await MetricsAsync(broker);
        Assert.True(Refusals(metrics, "DataPlane:HandshakeTimeout") >= silent, $"not every silent connection was ended for its silence:\n{metrics}");
        Assert.NotEqual(0, Refusals(metrics, "DataPlane:MinFrameBytesPerSecond"));
        Assert.NotEqual(0, Refusals(metrics, "DataPlane:StalledReaderTimeout"));
        Assert.InRange(broker.Log.Split('\n').Count(l => l.Contains("DataPlane:HandshakeTimeout", StringComparison.Ordinal)), 1, 20);
        Assert.True(
            attacked.LatencyUs.P99 <= 10 * TargetRatio * elsewhere.LatencyUs.P99,
            $"p99 is {attacked.LatencyUs.P99} us, and {elsewhere.LatencyUs.P99} us when another broker is attacked; target {TargetRatio} times");
    }

    private static long Refusals(string metrics, string limit)
    {
        string name = $"lightq_limit_refusals_total{{limit=\"{limit}\"}} ";
        return long.Parse(metrics.Split('\n').Single(l => l.StartsWith(name, StringComparison.Ordinal))[name.Length..], CultureInfo.InvariantCulture);
    }

    /// <summary>A broker that is less patient than by default, so that this ends, and takes all connections.</summary>
    private static async Task<FaultBroker> StartAsync(TemporaryDirectory directory)
    {
        var broker = new FaultBroker(
            directory.Path,
            ("DataPlane:HandshakeTimeout", "3s"), ("DataPlane:Heartbeat", "2s"), ("DataPlane:FrameGrace", "2s"), ("DataPlane:StalledReaderTimeout", "4s"),
            ("DataPlane:MaxConnections", "20000"), ("DataPlane:MaxUnauthenticatedConnections", "20000"));
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(new TopicSpec(IdleAttack.Topic) { SlowPolicy = SlowPolicy.DropOldest }, Cancel);
        return broker;
    }

    private static async Task<string> MetricsAsync(FaultBroker broker)
    {
        using var http = new HttpClient();
        return await http.GetStringAsync(FormattableString.Invariant($"http://127.0.0.1:{broker.WebPort}/metrics"), Cancel);
    }
}

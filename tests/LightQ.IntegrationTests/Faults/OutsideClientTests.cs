using LightQ.IntegrationTests.Grpc;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// D1.outside: a client written from the protocol's page alone publishes and judges, with a malicious publisher beside
/// it, while the broker is killed.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D1.outside")]
[Trait("Tier", "C")]
public sealed class OutsideClientTests
{
    private const int Lanes = 2;
    private const string Row = "D1.outside";

    [Fact]
    [Trait("Plain", "no")]
    public async Task Nothing_acknowledged_is_lost_whoever_else_publishes()
    {
        FaultRun.RequireTier("Brokers are killed beside clients in Python.");
        await OutsideJudge.RequireAsync();
        var run = new FaultRun(
            Row,
            "kill -9, last writes torn, beside a publisher of bad checksums, forged ids and headers, delayed, "
                + "compressed and dead letters"
        );
        // Directories of one partition and of four, in turn.
        var cycles = new CrashCycles(
            run,
            Row,
            (variant, first) => new OutsideLoad(variant % 2 == 0 ? 1 : 4, run.RandomFor(first).Next()),
            OutsideLoad.Control
        );
        int each = FaultRun.Times(c: 16, n: 500) / Lanes;
        using var directory = new TemporaryDirectory();
        await Task.WhenAll(
            Enumerable
                .Range(0, Lanes)
                .Select(lane => cycles.RunAsync(lane, each, directory.Path, (broker, _) => broker.KillAsync()))
        );
        cycles.Conclude();
    }

    [Fact]
    public async Task Its_frames_and_batches_are_those_of_the_session_in_bytes()
    {
        await OutsideJudge.RequireAsync();
        await StockClient.OutputOfAsync(
            StockClient.Python,
            "-B",
            "-m",
            "unittest",
            "discover",
            "-s",
            OutsideJudge.Folder
        );
    }
}

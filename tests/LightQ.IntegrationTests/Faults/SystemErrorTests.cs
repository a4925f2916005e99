using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// D11: the system refuses what the broker asks of it, for each error, on each kind of file, once and for good.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D11")]
[Trait("Tier", "C")]
public sealed class SystemErrorTests
{
    [Fact]
    [Trait("Plain", "no")]
    public async Task What_is_acknowledged_holds_and_what_is_said_is_true_whatever_the_system_answers()
    {
        FaultRun.RequireTier("It traces a broker's system calls.");
        await SystemCallFault.RequireAsync();
        var run = new FaultRun(
            "D11",
            "strace answers EIO, ENOSPC, EDQUOT and EINTR to calls on every kind of file, once and for good"
        );
        using var directory = new TemporaryDirectory();
        // Or it takes a file that it may not open for a damaged one.
        await using var broker = new FaultBroker(directory.Path, ("Broker:ScrubBytesPerSecond", "0"));
        await broker.StartAsync();
        await using LightQClient client = broker.ConnectAsAdmin();
        await using var matrix = new ErrorMatrix(broker, client, run);
        await matrix.BeginAsync();
        foreach (ErrorWave wave in ErrorWave.All)
            await matrix.RunAsync(wave);
        await matrix.KillAsync(new ErrorWave("EIO", "write", IsForGood: true));
        foreach (string error in new[] { "EIO", "ENOSPC", "EDQUOT" })
            await matrix.StartAsync(error);
        await broker.KillAsync();
        await broker.StartAsync();
        await matrix.VerifyAsync();

        run.Count("violations", matrix.Violations.Count);
        run.Report();
        Assert.True(
            matrix.Violations.Count == 0,
            $"LIGHTQ_SEED={run.Seed}:\n{string.Join('\n', matrix.Violations.Take(40))}"
        );
    }
}

using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Faults;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.DataPlane;

/// <summary>What long frames took of a broker's memory is given back when it has come to rest.</summary>
public sealed class LongFrameMemoryTests
{
    private const int Peers = 200;

    /// <summary>
    /// What may stay of what frames of one address may take, half of 256 MiB: of all of it, it was 2 with shared blocks
    /// let go, and 125 or more without.
    /// </summary>
    private const int KeptMiB = 50,
        TakenMiB = 100;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Frames_of_4_MiB_of_200_peers_leave_little_behind()
    {
        FaultRun.RequireTier("A broker looks for rest every five seconds.");
        Assert.SkipUnless(OperatingSystem.IsLinux(), "The resident memory is read from /proc.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);
        int Resident() => ProcessFigures.ResidentMiB(server.Process.Id);
        int before = Resident();

        List<RawClient> peers = [];
        for (int i = 0; i < Peers; i++)
            peers.Add(await RawClient.ConnectAsync(server.DataPort));
        byte[] frame = new byte[4_000_000];
        new FrameHeader(frame.Length, FrameType.Publish, 0, 1, 0).Write(frame);
        await Parallel.ForEachAsync(
            peers,
            TestContext.Current.CancellationToken,
            async (peer, _) =>
            {
                try
                {
                    await peer.SendAsync(frame.AsMemory(0, frame.Length - 1));
                }
                catch (IOException)
                {
                    // DataPlane:MaxAssemblyBytes is met, and this one was refused.
                }
            }
        );
        await Eventually.TrueAsync(
            () => Resident() > before + TakenMiB,
            Patience,
            () => $"{Resident()} MiB, and {before} before"
        );
        foreach (RawClient peer in peers)
            await peer.DisposeAsync();

        await Eventually.TrueAsync(
            () => Resident() <= before + KeptMiB,
            Patience,
            () => $"{Resident()} MiB stay, and {before} were there before"
        );
    }
}

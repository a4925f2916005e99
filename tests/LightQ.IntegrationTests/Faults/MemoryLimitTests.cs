using System.Globalization;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// D1.memory: the broker gets no more memory, and ends by that, somewhere in the middle of what it does.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D1.memory")]
[Trait("Tier", "N")]
public sealed class MemoryLimitTests
{
    private const string Row = "D1.memory",
        Control = "ended with a little left to take",
        AtNothing = "ended with nothing left to take",
        Never = "ended by kill -9";
    private const int Peers = 24;
    private static readonly TimeSpan Stressed = TimeSpan.FromMilliseconds(500),
        Patience = TimeSpan.FromSeconds(10);

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_broker_that_runs_out_of_memory_has_lost_nothing_that_was_acknowledged()
    {
        FaultRun.RequireLongRun("It ends processes for a quarter of an hour.");
        Assert.SkipUnless(
            OperatingSystem.IsLinux() && LoopFileSystem.Exists("prlimit"),
            "prlimit (util-linux) is not installed."
        );
        var run = new FaultRun(
            Row,
            "RLIMIT_DATA of 1 to 64 MiB more than is in use, under load and with peers that build long frames, then "
                + "of nothing"
        );
        var cycles = new CrashCycles(
            run,
            Row,
            (variant, _) => new FaultLoad(variant, Durability.Written, mayFail: true),
            Control
        );
        using var directory = new TemporaryDirectory();
        await cycles.RunAsync(
            0,
            200,
            directory.Path,
            async (broker, random) => cycles.Count(await TakeMemoryAsync(broker, random))
        );
        cycles.Conclude();
    }

    /// <summary>A little more than it has, and many who want it; then nothing more at all.</summary>
    /// <returns>By what the broker has ended.</returns>
    private static async Task<string> TakeMemoryAsync(FaultBroker broker, Random random)
    {
        await LimitAsync(broker, (long)(ProcessFigures.DataMiB(broker.ProcessId) + random.Next(1, 65)) << 20);
        Task<HostilePeer?>[] peers = [.. Enumerable.Range(0, Peers).Select(_ => WantMemoryAsync(broker.DataPort))];
        string ended = Control;
        if (!await broker.EndsAsync(Stressed))
        {
            ended = AtNothing;
            await LimitAsync(broker, 1);
            if (!await broker.EndsAsync(Patience))
            {
                ended = Never;
                await broker.KillAsync();
            }
        }
        foreach (HostilePeer? peer in await Task.WhenAll(peers))
        {
            if (peer is not null)
                await peer.DisposeAsync();
        }
        return ended;
    }

    /// <summary>Sends most of a frame of 4 MiB, which the broker has to keep until the rest comes.</summary>
    private static async Task<HostilePeer?> WantMemoryAsync(int port)
    {
        HostilePeer peer;
        try
        {
            peer = await HostilePeer.ConnectAsync(port, tls: false);
        }
        catch (SocketException)
        {
            return null; // It does not listen yet, or no more.
        }
        await peer.SendAsync(HostilePeer.Frame(new HelloFrame(1, 1, 0, "hungry", HelloFrame.Anonymous, "")));
        await peer.ReadAsync();
        byte[] frame = new byte[ProtocolLimits.DefaultFrameBytes - (64 * 1024)];
        new FrameHeader(ProtocolLimits.DefaultFrameBytes - FrameHeader.Size, FrameType.Publish, 0, 1, 0).Write(frame);
        await peer.SendAsync(frame);
        return peer;
    }

    private static async Task LimitAsync(FaultBroker broker, long bytes)
    {
        try
        {
            LoopFileSystem.Run(
                "prlimit",
                [
                    "--pid",
                    broker.ProcessId.ToString(CultureInfo.InvariantCulture),
                    $"--data={bytes.ToString(CultureInfo.InvariantCulture)}",
                ]
            );
        }
        catch (InvalidOperationException)
        {
            if (!await broker.EndsAsync(Stressed))
                throw; // Otherwise it had just ended by itself.
        }
    }
}

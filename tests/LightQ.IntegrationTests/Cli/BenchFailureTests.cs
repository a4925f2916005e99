using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.IntegrationTests.Faults;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>A bench whose server cannot go on ends with what is wrong, not with a figure.</summary>
[Collection(FaultCollection.Name)]
public sealed class BenchFailureTests
{
    private const string OtherVersion = "This broker speaks version 7; the client 1 to 1.";

    [Theory]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    [InlineData("throughput", "--sizes", "1024", "--messages", "2000000")]
    [InlineData("latency", "--size", "1024", "--rate", "50000", "--duration", "60s")]
    [InlineData("reference", "--sizes", "1024", "--messages", "2000000")]
    public async Task A_disk_that_fills_up(string bench, params string[] shape)
    {
        FaultRun.RequireTier("It takes half a minute.");
        using LoopFileSystem disk = LoopFileSystem.Create("ext4", 96);
        string[] pairs = bench == "reference" ? [] : ["--pairs", "1"];

        ToolResult run = await LightQTool.RunAsync(
            null,
            ["bench", bench, "--kind", "durable", "--data", disk.Path, .. pairs, .. shape]
        );

        run.FailedLastWith(1);
        Assert.Contains("disk is full", run.Errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("throughput", "--pairs", "1", "--messages", "1000")]
    [InlineData("latency", "--pairs", "1", "--duration", "1s")]
    [InlineData("fanout", "--subscribers", "2", "--publishers", "1", "--duration", "1s")]
    public async Task A_server_of_another_version(string bench, params string[] shape)
    {
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);
        using var data = new TcpListener(IPAddress.Loopback, 0);
        data.Start();
        Task refusing = RefuseAsync(data, TestContext.Current.CancellationToken);

        ToolResult run = await LightQTool.RunAsync(
            null,
            [
                "bench",
                bench,
                "--server",
                $"lightq://127.0.0.1:{((IPEndPoint)data.LocalEndpoint).Port}?control={server.ControlPort}",
                .. shape,
            ]
        );
        data.Stop();
        await refusing;

        run.FailedLastWith(69);
        Assert.Contains(OtherVersion, run.Errors, StringComparison.Ordinal);
    }

    /// <summary>Answers every Hello as a broker does that speaks another version of the data plane.</summary>
    private static async Task RefuseAsync(TcpListener listener, CancellationToken cancellationToken)
    {
        byte[] answer = new byte[256],
            hello = new byte[4096];
        int length = FrameCodec.Write(answer, new ErrorFrame(ErrorCode.UnsupportedVersion, OtherVersion));
        try
        {
            while (true)
            {
                using Socket client = await listener.AcceptSocketAsync(cancellationToken);
                await client.ReceiveAsync(hello, cancellationToken);
                await client.SendAsync(answer.AsMemory(0, length), cancellationToken);
                client.Shutdown(SocketShutdown.Send);
                await client.ReceiveAsync(hello, cancellationToken);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The listener was stopped.
        }
    }
}

using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using LightQ.Cli.Hosting;
using LightQ.Client;
using LightQ.IntegrationTests.DataPlane;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>N3: thousands of connections that say nothing, frames byte by byte and subscribers that do not read, beside a healthy load.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "N3")]
[Trait("Tier", "C")]
public sealed class IdleAttackTests
{
    private const int Stalled = 100, Slow = 100, AtOnce = 10;
    private const double TargetRatio = 2;

    /// <summary>What the broker and this process need besides.</summary>
    private const int OtherDescriptors = 600;

    private static readonly TimeSpan Calm = TimeSpan.FromSeconds(2.5), Drip = TimeSpan.FromMilliseconds(200), Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Peers_that_say_nothing_or_do_not_read_are_closed_in_time_and_leave_nothing_behind()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "It looks into /proc.");
        var run = new FaultRun("N3", "silent connections, frames byte by byte, subscribers that do not read, beside a load");
        FaultRun.RequireTier("It opens thousands of connections.");
        int silent = Math.Min(FaultRun.Times(c: 5_000, n: 10_000), DescriptorLimit.Read() - OtherDescriptors);
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(
            directory.Path,
            ("DataPlane:HandshakeTimeout", "3s"), ("DataPlane:Heartbeat", "1s"), ("DataPlane:FrameGrace", "1s"), ("DataPlane:StalledReaderTimeout", "2s"),
            ("DataPlane:MaxConnections", "20000"), ("DataPlane:MaxUnauthenticatedConnections", "20000"));
        await broker.StartAsync();
        LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(new TopicSpec("healthy"), Cancel);
        await client.Topics.CreateAsync(new TopicSpec("stalled") { SlowPolicy = SlowPolicy.DropOldest }, Cancel);
        await using HealthyLoad load = await HealthyLoad.StartAsync(client, "healthy");
        await using Producer flood = await client.CreateProducerAsync("stalled", cancellationToken: Cancel);
        await Task.Delay(TimeSpan.FromSeconds(1), Cancel);
        load.TakeP99();
        await Task.Delay(Calm, Cancel);
        long calm = load.TakeP99();
        int descriptors = ProcessFigures.Descriptors(broker.ProcessId);
        long resident = ProcessFigures.Resident(broker.ProcessId);

        var took = Stopwatch.StartNew();
        List<Socket> peers = [];
        using var enough = new CancellationTokenSource();
        List<Task> working = [];
        for (int i = 0; i < Stalled; i++)
        {
            RawClient reader = await StalledReaderAsync(broker.DataPort);
            peers.Add(reader.Socket);
            if (i % 2 == 0)
                working.Add(DripAsync(reader.Socket, Ping(), whole: true, enough.Token)); // It goes on talking, so that no heartbeat is missed.
        }
        working.Add(FloodAsync(flood, enough.Token));
        for (int i = 0; i < Slow; i++)
        {
            RawClient sender = await RawClient.ConnectAsync(broker.DataPort, greet: i % 2 == 0);
            peers.Add(sender.Socket);
            working.Add(DripAsync(sender.Socket, RawClient.PublishFrame(1, RawClient.Batch(0, 10_000)), whole: false, enough.Token));
        }
        for (int i = 0; i < silent; i++)
        {
            peers.Add(await ConnectAsync(broker.DataPort, i));
            if (i % AtOnce == AtOnce - 1)
                await Task.Delay(1, Cancel); // The processors are shared with the broker.
        }
        run.Figure("connections", peers.Count);
        run.Figure("opened in ms", (long)took.Elapsed.TotalMilliseconds);
        int most = ProcessFigures.Descriptors(broker.ProcessId);
        long mostResident = ProcessFigures.Resident(broker.ProcessId);
        await Eventually.TrueAsync(
            async () =>
            {
                await Task.Delay(250, Cancel); // Looking is work, too.
                int now = ProcessFigures.Descriptors(broker.ProcessId);
                most = Math.Max(most, now);
                mostResident = Math.Max(mostResident, ProcessFigures.Resident(broker.ProcessId));
                return now <= descriptors + 5;
            },
            Patience, () => $"the broker has {ProcessFigures.Descriptors(broker.ProcessId)} descriptors and had {descriptors}\n{broker.Log}");
        long closed = (long)took.Elapsed.TotalMilliseconds;
        long beside = load.TakeP99();
        await enough.CancelAsync();
        await Task.WhenAll(working);
        int open = peers.Count(IsOpen);
        foreach (Socket peer in peers)
            peer.Dispose();
        await load.FinishAsync(Patience);

        run.Figure("all closed after ms", closed);
        run.Figure("still open", open);
        run.Figure("p99 us, calm", calm);
        run.Figure("p99 us, beside", beside);
        run.Figure("descriptors, before", descriptors);
        run.Figure("descriptors, most", most);
        run.Figure("descriptors, after", ProcessFigures.Descriptors(broker.ProcessId));
        run.Figure("resident MiB, before", resident >> 20);
        run.Figure("resident MiB, most", mostResident >> 20);
        run.Figure("resident MiB, after", ProcessFigures.Resident(broker.ProcessId) >> 20);
        run.Figure("lost", load.Published - load.Received);
        run.Report();
        Assert.True(most >= silent / 2, $"only {most} descriptors were in use: the attack was none"); // The first are closed while the last are opened.
        Assert.Equal(0, open);
        Assert.Equal(0, load.Published - load.Received);
        Assert.True(ProcessFigures.Resident(broker.ProcessId) - resident < 256L << 20, "the broker keeps memory");
        string metrics = await MetricsAsync(broker);
        foreach (string limit in (string[])["DataPlane:HandshakeTimeout", "DataPlane:MinFrameBytesPerSecond", "DataPlane:StalledReaderTimeout"])
            Assert.DoesNotContain($"lightq_limit_refusals_total{{limit=\"{limit}\"}} 0\n", metrics, StringComparison.Ordinal);
        Assert.InRange(broker.Log.Split('\n').Count(l => l.Contains("DataPlane:HandshakeTimeout", StringComparison.Ordinal)), 1, 20);
        Assert.True(beside <= 10 * TargetRatio * calm, $"p99 went from {calm} to {beside} us; target {TargetRatio} times");
    }

    private static async Task<string> MetricsAsync(FaultBroker broker)
    {
        using var http = new HttpClient();
        return await http.GetStringAsync(FormattableString.Invariant($"http://127.0.0.1:{broker.WebPort}/metrics"), Cancel);
    }

    /// <summary>A connection that says nothing, from one of several addresses.</summary>
    private static async Task<Socket> ConnectAsync(int port, int number)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(new IPAddress([127, 0, 0, (byte)(2 + (number % 10))]), 0));
        await socket.ConnectAsync(IPAddress.Loopback, port, Cancel);
        return socket;
    }

    /// <summary>A subscriber that grants all credit there is and never reads.</summary>
    private static async Task<RawClient> StalledReaderAsync(int port)
    {
        RawClient reader = await RawClient.ConnectAsync(port);
        reader.Socket.ReceiveBufferSize = 4096;
        await reader.SubscribeAsync("stalled", 1, uint.MaxValue, StartKind.Latest, slow: SlowPolicy.DropOldest);
        return reader;
    }

    private static byte[] Ping()
    {
        byte[] frame = new byte[FrameHeader.Size + 8];
        return frame[..FrameCodec.Write(frame, new PingFrame(1), 0, 0)];
    }

    /// <summary>Sends a byte, or the whole, again and again.</summary>
    private static async Task DripAsync(Socket socket, byte[] bytes, bool whole, CancellationToken enough)
    {
        using var timer = new PeriodicTimer(Drip);
        try
        {
            for (int at = 0; at < bytes.Length && !enough.IsCancellationRequested; at += whole ? 0 : 1)
            {
                await socket.SendAsync(whole ? bytes : bytes.AsMemory(at, 1), Cancel);
                await timer.WaitForNextTickAsync(Cancel);
            }
        }
        catch (SocketException)
        {
            // It was closed, as it should be.
        }
    }

    private static async Task FloodAsync(Producer producer, CancellationToken enough)
    {
        byte[] body = new byte[32 * 1024];
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(20));
        while (!enough.IsCancellationRequested)
        {
            await producer.PublishAsync(body, cancellationToken: Cancel);
            await timer.WaitForNextTickAsync(Cancel);
        }
    }

    /// <summary>Whether the other end is still there: what it has sent is read first.</summary>
    private static bool IsOpen(Socket socket)
    {
        socket.Blocking = false;
        byte[] buffer = new byte[64 * 1024];
        while (true)
        {
            int count = socket.Receive(buffer, SocketFlags.None, out SocketError error);
            if (error == SocketError.WouldBlock)
                return true;
            if (count == 0)
                return false; // The end, or a reset.
        }
    }
}

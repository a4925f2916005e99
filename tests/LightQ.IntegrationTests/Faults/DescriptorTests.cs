using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// N5: a broker whose descriptors are taken by connections. It goes on with what is open, also where that takes new
/// files, waits without work, and takes up the rest when there are some again.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "N5")]
[Trait("Tier", "C")]
public sealed class DescriptorTests
{
    private const int Descriptors = 512,
        BodyBytes = 8_000,
        Messages = 300;
    private static readonly TimeSpan Watched = TimeSpan.FromSeconds(2),
        Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    public async Task Without_descriptors_the_broker_waits_and_when_there_are_some_again_it_goes_on()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "It looks into /proc.");
        var run = new FaultRun("N5", "512 descriptors, all taken by connections to the three ports, then given back");
        FaultRun.RequireTier("It exhausts a process.");
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(
            directory.Path,
            ("DataPlane:HandshakeTimeout", "5m"),
            ("Http:HeaderTimeout", "5m"),
            ("Broker:MaxSharePercent", "100") // All come from one address, which would have half of them.
        )
        {
            Descriptors = Descriptors,
        };
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        // Segments that each of the load below fills several of.
        await client.Topics.CreateAsync(
            new TopicSpec("t")
            {
                Kind = TopicKind.Durable,
                MaxMessageBytes = 16 * 1024,
                SegmentBytes = 512 * 1024,
            },
            Cancel
        );
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancel);
        await producer.PublishAsync(new byte[BodyBytes], cancellationToken: Cancel);

        List<Socket> taken = [];
        for (int i = 0; i < Descriptors; i++)
            taken.Add(await ConnectAsync(broker.DataPort + (i % 3))); // Far more than there is room for, on each port.
        await Task.Delay(500, Cancel);
        int most = ProcessFigures.Descriptors(broker.ProcessId);
        TimeSpan cpu = ProcessFigures.Cpu(broker.ProcessId);
        await Task.Delay(Watched, Cancel);
        cpu = ProcessFigures.Cpu(broker.ProcessId) - cpu;
        Task<PublishAck>[] publishing =
        [
            .. Enumerable
                .Range(0, Messages)
                .Select(_ => producer.PublishAsync(new byte[BodyBytes], cancellationToken: Cancel).AsTask()),
        ];
        Exception? lost = await Record.ExceptionAsync(() => Task.WhenAll(publishing).WaitAsync(Patience, Cancel));
        int full = ProcessFigures.Descriptors(broker.ProcessId);
        Assert.True(lost is null, $"{lost}\n{broker.Log}");
        PublishAck[] acks = await Task.WhenAll(publishing);
        foreach (Socket socket in taken)
            socket.Dispose();

        var watch = Stopwatch.StartNew();
        long served = -1;
        string metrics = "";
        await using (LightQClient late = broker.Connect())
        {
            await Eventually.TrueAsync(
                async () =>
                    await Record.ExceptionAsync(async () =>
                    {
                        await late.PingAsync(Cancel);
                        TopicInfo topic = await late.Topics.GetAsync("t", Cancel);
                        served = topic.Failure.Length == 0 ? topic.EndOffsets[0] : -1;
                        using var http = new HttpClient();
                        metrics = await http.GetStringAsync(
                            FormattableString.Invariant($"http://127.0.0.1:{broker.WebPort}/metrics"),
                            Cancel
                        );
                    })
                        is null,
                Patience,
                () => $"not all ports serve again\n{broker.Log}"
            );
        }
        run.Figure("all ports serve again after ms", watch.ElapsedMilliseconds);
        int segments = Directory
            .EnumerateFiles(Path.Combine(directory.Path, "topics"), "*.seg", SearchOption.AllDirectories)
            .Count();
        run.Figure("descriptors, most", most);
        run.Figure("CPU ms in 2 s without descriptors", (long)cpu.TotalMilliseconds);
        run.Figure("accepts that failed", (long)Value(metrics, "lightq_accept_failures_total"));
        run.Figure("lines in the log about it", Lines(broker));
        run.Figure("acknowledged meanwhile", acks.Length);
        run.Figure("segments", segments);
        run.Figure("descriptors, after", ProcessFigures.Descriptors(broker.ProcessId));
        run.Figure("lost", Messages + 1 - served);
        (int code, _) = await broker.TerminateAsync();
        run.Report();
        Assert.Equal(0, code);
        Assert.InRange(most, Descriptors * 3 / 4, Descriptors - 1);
        Assert.InRange(full, Descriptors * 3 / 4, Descriptors - 1); // Also while segments were made.
        Assert.InRange(Value(metrics, "lightq_accept_failures_total"), 3, 200);
        Assert.InRange(Lines(broker), 1, 20);
        Assert.True(
            cpu < Watched / 4,
            $"the broker has used {cpu.TotalMilliseconds} ms of CPU in {Watched} while it could do nothing"
        );
        Assert.Equal(Messages + 1, served);
        Assert.InRange(segments, 3, int.MaxValue);
    }

    private static int Lines(FaultBroker broker) =>
        broker.Log.Split('\n').Count(l => l.Contains("cannot be accepted", StringComparison.Ordinal));

    private static double Value(string metrics, string name) =>
        double.Parse(
            metrics.Split('\n').Single(l => l.StartsWith(name + " ", StringComparison.Ordinal)).Split(' ')[1],
            CultureInfo.InvariantCulture
        );

    private static async Task<Socket> ConnectAsync(int port)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(IPAddress.Loopback, port, Cancel);
        return socket;
    }
}

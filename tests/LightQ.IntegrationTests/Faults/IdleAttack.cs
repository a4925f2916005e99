using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.DataPlane;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// The peers of <see cref="IdleAttackTests"/>, in a process of this same assembly with the lowest priority: a broker's attackers run elsewhere, these share its
/// processors.
/// </summary>
public sealed class IdleAttack : IDisposable
{
    /// <summary>What the stalled readers subscribe to.</summary>
    internal const string Topic = "stalled";

    private const string Mark = "attack: ", PortsVariable = "LIGHTQ_ATTACK_PORTS", SilentVariable = "LIGHTQ_ATTACK_SILENT";
    private const int Stalled = 100, Slow = 100, AtOnce = 10;
    private static readonly TimeSpan Drip = TimeSpan.FromMilliseconds(200), Opening = TimeSpan.FromMilliseconds(9), Flood = TimeSpan.FromMilliseconds(5), Patience = TimeSpan.FromSeconds(60);

    private readonly Process? _process;

    /// <summary>The process's own end, as a test.</summary>
    public IdleAttack()
    {
    }

    private IdleAttack(Process process) => _process = process;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>Starts the process and waits until it could begin.</summary>
    /// <param name="broker">Who is attacked; it has the topic <see cref="Topic"/>.</param>
    /// <param name="silent">How many connections say nothing.</param>
    internal static async Task<IdleAttack> PrepareAsync(FaultBroker broker, int silent)
    {
        string itself = $"{typeof(IdleAttack).FullName}.{nameof(The_peers_of_an_attack)}";
        var start = new ProcessStartInfo("nice", ["-n", "19", "dotnet", typeof(IdleAttack).Assembly.Location, "-noColor", "-explicit", "only", "-method", itself])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        start.Environment[PortsVariable] = string.Create(CultureInfo.InvariantCulture, $"{broker.DataPort} {broker.ControlPort}");
        start.Environment[SilentVariable] = silent.ToString(CultureInfo.InvariantCulture);
        var attack = new IdleAttack(Process.Start(start)!);
        await attack.HearAsync();
        return attack;
    }

    /// <summary>Opens all connections.</summary>
    /// <returns>How many, and how many milliseconds it took.</returns>
    internal async Task<(int Connections, int Milliseconds)> BeginAsync()
    {
        await _process!.StandardInput.WriteLineAsync("begin");
        int[] numbers = await HearAsync();
        return (numbers[0], numbers[1]);
    }

    /// <summary>Ends it.</summary>
    /// <returns>How many connections were open still.</returns>
    internal async Task<int> EndAsync()
    {
        await _process!.StandardInput.WriteLineAsync("end");
        int open = (await HearAsync())[0];
        await LightQTool.EndAsync(_process);
        return open;
    }

    public void Dispose()
    {
        if (_process is null)
            return;
        if (!_process.HasExited)
            _process.Kill();
        _process.Dispose();
    }

    private async Task<int[]> HearAsync()
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        patience.CancelAfter(Patience);
        List<string> heard = [];
        try
        {
            while (await _process!.StandardOutput.ReadLineAsync(patience.Token) is { } line)
            {
                heard.Add(line);
                int mark = line.IndexOf(Mark, StringComparison.Ordinal); // The runner's colours may be in front.
                if (mark >= 0)
                    return Numbers(line[(mark + Mark.Length)..]);
            }
        }
        catch (OperationCanceledException) when (!Cancel.IsCancellationRequested)
        {
            heard.Add($"It said nothing more for {Patience.TotalSeconds} s.");
        }
        throw new InvalidOperationException($"The attack ended:\n{string.Join('\n', heard)}");
    }

    /// <summary>The process itself: no test, but what a test of its own process runs.</summary>
    [Fact(Explicit = true)]
    public async Task The_peers_of_an_attack()
    {
        Assert.SkipUnless(Environment.GetEnvironmentVariable(PortsVariable) is not null, "It is a part of IdleAttackTests.");
        int[] ports = Numbers(Environment.GetEnvironmentVariable(PortsVariable)!);
        int silent = int.Parse(Environment.GetEnvironmentVariable(SilentVariable)!, CultureInfo.InvariantCulture);
        await using var client = new LightQClient(new LightQClientOptions { DataPort = ports[0], ControlPort = ports[1] });
        await using Producer flood = await client.CreateProducerAsync(Topic, cancellationToken: Cancel);
        Say(0);
        await Console.In.ReadLineAsync(Cancel);

        var took = Stopwatch.StartNew();
        List<Socket> peers = [];
        using var enough = new CancellationTokenSource();
        List<Task> working = [];
        for (int i = 0; i < Stalled; i++)
        {
            RawClient reader = await StalledReaderAsync(ports[0]);
            peers.Add(reader.Socket);
            if (i % 2 == 0)
                working.Add(DripAsync(reader.Socket, Ping(), whole: true, enough.Token)); // It goes on talking, so that no heartbeat is missed.
        }
        working.Add(FloodAsync(flood, enough.Token));
        for (int i = 0; i < Slow; i++)
        {
            RawClient sender = await RawClient.ConnectAsync(ports[0], greet: i % 2 == 0);
            peers.Add(sender.Socket);
            working.Add(DripAsync(sender.Socket, RawClient.PublishFrame(1, RawClient.Batch(0, 10_000)), whole: false, enough.Token));
        }
        for (int i = 0; i < silent; i++)
        {
            peers.Add(await ConnectAsync(ports[0], i));
            if (i % AtOnce == AtOnce - 1)
                await Task.Delay(Opening, Cancel); // About a thousand a second.
        }
        Say(peers.Count, (int)took.ElapsedMilliseconds);
        await Console.In.ReadLineAsync(Cancel);
        await enough.CancelAsync();
        await Task.WhenAll(working);
        Say(peers.Count(IsOpen));
        foreach (Socket peer in peers)
            peer.Dispose();
    }

    private static int[] Numbers(string text) => [.. text.Split(' ').Select(n => int.Parse(n, CultureInfo.InvariantCulture))];

    /// <summary>Tells the test, between the lines of the runner.</summary>
    private static void Say(params int[] numbers) => Console.WriteLine(Mark + string.Join(' ', numbers));

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
        await reader.SubscribeAsync(Topic, 1, uint.MaxValue, StartKind.Latest, slow: SlowPolicy.DropOldest);
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
        await Task.Delay(Random.Shared.Next((int)Drip.TotalMilliseconds), Cancel); // Not all at once.
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
        byte[] body = new byte[8 * 1024];
        using var timer = new PeriodicTimer(Flood);
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

using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.IntegrationTests.DataPlane;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>The peers of <see cref="IdleAttackTests"/>, in a process of their own.</summary>
public sealed class IdleAttack : IDisposable
{
    /// <summary>What the stalled readers subscribe to.</summary>
    internal const string Topic = "stalled";

    /// <summary>How many more descriptors a broker may have afterwards: of files, for instance.</summary>
    internal const int DescriptorSlack = 5;

    private const int Stalled = 100,
        Slow = 100,
        SilentInTurn = 10,
        TurnsOfDrip = 15,
        TurnsOfFlood = 12;

    /// <summary>
    /// Between two turns of the attack. Each opens some silent connections and sends what is due of the drips and of
    /// the flood.
    /// </summary>
    private static readonly TimeSpan Turn = TimeSpan.FromMilliseconds(15);

    /// <summary>
    /// What the flood sends at once: in some seconds as much as the system keeps for a connection that is not read.
    /// </summary>
    private static readonly byte[] Body = new byte[64 * 1024];

    /// <summary>How long the broker may take to close them all.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(50);

    private readonly AttackProcess? _process;

    /// <summary>The process's own end, as a test.</summary>
    public IdleAttack() { }

    private IdleAttack(AttackProcess process) => _process = process;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>Starts the process and waits until it could begin.</summary>
    /// <param name="broker">Who is attacked; it has the topic <see cref="Topic"/>.</param>
    /// <param name="silent">How many connections say nothing.</param>
    internal static async Task<IdleAttack> PrepareAsync(FaultBroker broker, int silent) =>
        new(
            await AttackProcess.StartAsync(
                typeof(IdleAttack),
                nameof(The_peers_of_an_attack),
                broker.DataPort,
                broker.ControlPort,
                broker.ProcessId,
                silent
            )
        );

    /// <summary>Opens all connections and waits until the broker has closed them; another may follow.</summary>
    internal async Task<IdleAttackFigures> RunAsync()
    {
        await _process!.TellAsync("begin");
        return IdleAttackFigures.Of(await _process.HearAsync());
    }

    public void Dispose() => _process?.Dispose();

    /// <summary>The process itself: no test, but what a test of its own process runs.</summary>
    [Fact(Explicit = true)]
    public async Task The_peers_of_an_attack()
    {
        if (AttackProcess.Arguments is not [int dataPort, int controlPort, int process, int silent])
            throw new InvalidOperationException("It takes two ports, a process and a number of connections.");
        await using var client = new LightQClient(
            new LightQClientOptions { DataPort = dataPort, ControlPort = controlPort }
        );
        await using Producer flood = await client.CreateProducerAsync(Topic, cancellationToken: Cancel);
        AttackProcess.Say(0);
        while (Console.In.ReadLine() is not null)
            AttackProcess.Say((await AttackAsync(dataPort, process, silent, flood)).Numbers);
    }

    /// <summary>From the first connection until the broker has no descriptor more than before.</summary>
    /// <remarks>
    /// It is this process that looks at the broker's descriptors, and only when all are open and when the last is
    /// closed: a look at thousands takes the kernel milliseconds.
    /// </remarks>
    private static async Task<IdleAttackFigures> AttackAsync(int port, int broker, int silent, Producer flood)
    {
        var figures = new IdleAttackFigures
        {
            DescriptorsBefore = ProcessFigures.Descriptors(broker),
            ResidentMiBBefore = ProcessFigures.ResidentMiB(broker),
        };
        var took = Stopwatch.StartNew();
        List<Socket> peers = [];
        List<Drip> drips = [];
        for (int i = 0; i < Stalled; i++)
        {
            Socket reader = await StalledReaderAsync(port);
            peers.Add(reader);
            if (i % 2 == 0)
                drips.Add(new Drip(reader, Ping(), Whole: true)); // It goes on talking, so that no heartbeat is missed.
        }
        for (int i = 0; i < Slow; i++)
        {
            RawClient sender = await RawClient.ConnectAsync(port, greet: i % 2 == 0);
            peers.Add(sender.Socket);
            drips.Add(new Drip(sender.Socket, RawClient.PublishFrame(1, RawClient.Batch(0, 10_000)), Whole: false));
        }
        int opened = 0;
        for (int turn = 0; took.Elapsed < Patience; turn++)
        {
            for (int i = 0; i < SilentInTurn && opened < silent; i++)
                peers.Add(Connect(port, opened++));
            for (int i = turn % TurnsOfDrip; i < drips.Count; i += TurnsOfDrip)
                drips[i].Send();
            if (turn % TurnsOfFlood == 0)
                await flood.PublishAsync(Body, cancellationToken: Cancel);
            Thread.Sleep(Turn); // One thread does it all: what this takes of the processors, the broker lacks.
            if (opened == silent && figures.DescriptorsAllOpen == 0)
            {
                figures.OpenedMilliseconds = (int)took.ElapsedMilliseconds;
                figures.DescriptorsAllOpen = ProcessFigures.Descriptors(broker);
                figures.ResidentMiBAllOpen = ProcessFigures.ResidentMiB(broker);
            }
            else if (
                opened == silent
                && !IsOpen(peers[^1])
                && ProcessFigures.Descriptors(broker) <= figures.DescriptorsBefore + DescriptorSlack
            )
            {
                break;
            }
        }
        figures.ClosedMilliseconds = (int)took.ElapsedMilliseconds;
        figures.Connections = peers.Count;
        figures.StillOpen = peers.Count(IsOpen);
        foreach (Socket peer in peers)
            peer.Dispose();
        return figures;
    }

    /// <summary>A connection that says nothing, from one of several addresses.</summary>
    private static Socket Connect(int port, int number)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(new IPAddress([127, 0, 0, (byte)(2 + (number % 10))]), 0));
        socket.Connect(IPAddress.Loopback, port);
        return socket;
    }

    /// <summary>A subscriber that grants all credit there is and never reads.</summary>
    private static async Task<Socket> StalledReaderAsync(int port)
    {
        RawClient reader = await RawClient.ConnectAsync(port);
        reader.Socket.ReceiveBufferSize = 4096;
        await reader.SubscribeAsync(Topic, 1, uint.MaxValue, StartKind.Latest, slow: SlowPolicy.DropOldest);
        return reader.Socket;
    }

    private static byte[] Ping()
    {
        byte[] frame = new byte[FrameHeader.Size + 8];
        return frame[..FrameCodec.Write(frame, new PingFrame(1), 0, 0)];
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

    /// <summary>
    /// A peer that sends a byte, or the whole, at each of its turns until it is closed, as it should be.
    /// </summary>
    private sealed record Drip(Socket Socket, byte[] Bytes, bool Whole)
    {
        private int _sent;

        public void Send()
        {
            if (_sent < Bytes.Length)
            {
                _ = Whole
                    ? Socket.Send(Bytes, SocketFlags.None, out _)
                    : Socket.Send(Bytes.AsSpan(_sent++, 1), SocketFlags.None, out _);
            }
        }
    }
}

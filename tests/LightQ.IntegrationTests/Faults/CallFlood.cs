using System.Buffers.Binary;
using System.Net.Sockets;
using Google.Protobuf;
using LightQ.IntegrationTests.Grpc;
using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// The clients of <see cref="CallFloodTests"/>, in a process of their own: each a connection to the control port that
/// has as many calls under way as it may, until they are told to end.
/// </summary>
public sealed class CallFlood : IDisposable
{
    /// <summary>How many connections.</summary>
    internal const int Clients = 8;

    private const int AtOnce = 100,
        HeaderBytes = 9;

    private readonly AttackProcess? _process;

    /// <summary>The process's own end, as a test.</summary>
    public CallFlood() { }

    private CallFlood(AttackProcess process) => _process = process;

    /// <summary>Starts the process and waits until it could begin.</summary>
    internal static async Task<CallFlood> PrepareAsync(FaultBroker broker) =>
        new(await AttackProcess.StartAsync(typeof(CallFlood), nameof(The_calls_of_a_flood), broker.ControlPort));

    /// <summary>Begins a flood.</summary>
    internal Task BeginAsync(FloodKind kind) => _process!.TellAsync(kind.ToString());

    /// <summary>Ends it; another may begin.</summary>
    /// <returns>How many calls, or pings, were answered.</returns>
    internal async Task<int> EndAsync()
    {
        await _process!.TellAsync("end");
        return (await _process.HearAsync())[0];
    }

    public void Dispose() => _process?.Dispose();

    /// <summary>The process itself: no test, but what a test of its own process runs.</summary>
    [Fact(Explicit = true)]
    public async Task The_calls_of_a_flood()
    {
        if (AttackProcess.Arguments is not [int port])
            throw new InvalidOperationException("It takes a port.");
        AttackProcess.Say(0);
        while (Console.In.ReadLine() is { } line)
        {
            var clients = new Client[Clients];
            for (int i = 0; i < Clients; i++)
                clients[i] = await Client.StartAsync(port, Enum.Parse<FloodKind>(line));
            Console.In.ReadLine();
            int answers = 0;
            foreach (Client client in clients)
                answers += client.End();
            AttackProcess.Say(answers);
        }
    }

    /// <summary>One connection, with a thread that reads and sends.</summary>
    private sealed class Client
    {
        private readonly int _port;
        private readonly FloodKind _kind;
        private readonly byte[] _call;
        private readonly byte[] _batch = new byte[64 * 1024];
        private volatile Socket _socket = null!;
        private volatile bool _hasEnded;
        private int _stream;
        private int _answers;

        private Client(int port, FloodKind kind)
        {
            (_port, _kind) = (port, kind);
            (string path, IMessage request) =
                kind == FloodKind.Failing
                    ? ("/lightq.control.v1.Topics/GetTopic", (IMessage)new GetTopicRequest { Name = "nowhere" })
                    : ("/lightq.control.v1.Auth/WhoAmI", new WhoAmIRequest());
            _call = kind switch
            {
                FloodKind.Pings => Http2Peer.Frame(Http2FrameType.Ping, 0, 0, new byte[8]),
                FloodKind.Reset =>
                [
                    .. Http2Peer.Headers(0, Http2Peer.HeaderBlock(path)),
                    .. Http2Peer.Frame(Http2FrameType.Reset, 0, 0, [0, 0, 0, 8]),
                ],
                _ =>
                [
                    .. Http2Peer.Headers(0, Http2Peer.HeaderBlock(path)),
                    .. Http2Peer.Frame(
                        Http2FrameType.Data,
                        Http2Frame.EndStreamFlag,
                        0,
                        [0, 0, 0, 0, (byte)request.CalculateSize(), .. request.ToByteArray()]
                    ),
                ],
            };
        }

        public static async Task<Client> StartAsync(int port, FloodKind kind)
        {
            var client = new Client(port, kind);
            await client.ConnectAsync();
            new Thread(client.Run) { IsBackground = true }.Start();
            return client;
        }

        /// <summary>Ends the connection.</summary>
        /// <returns>How many answers came.</returns>
        public int End()
        {
            int answers = Volatile.Read(ref _answers);
            _hasEnded = true;
            _socket.Dispose();
            return answers;
        }

        private async Task ConnectAsync()
        {
            _socket = await Http2Peer.OpenSocketAsync(_port);
            _stream = 1;
        }

        /// <summary>Comes back when the broker has ended the connection.</summary>
        private void Run()
        {
            while (!_hasEnded)
            {
                Flood();
                if (!_hasEnded)
                    ConnectAsync().GetAwaiter().GetResult();
            }
            _socket.Dispose();
        }

        private void Flood()
        {
            try
            {
                int open = 0;
                byte[] received = new byte[256 * 1024];
                int length = 0;
                while (true)
                {
                    open += Send(AtOnce - open);
                    if (_kind == FloodKind.Reset)
                    {
                        open = 0; // Nobody answers what was reset.
                        _answers += AtOnce;
                        if (_socket.Available == 0)
                            continue;
                    }
                    int count = _socket.Receive(received.AsSpan(length));
                    if (count == 0)
                        return;
                    length += count;
                    int at = 0;
                    while (
                        length - at >= HeaderBytes
                        && BinaryPrimitives.ReadInt32BigEndian(received.AsSpan(at)) >>> 8 is var payload
                        && length - at >= HeaderBytes + payload
                    )
                    {
                        var frame = new Http2Frame((Http2FrameType)received[at + 3], received[at + 4], 0, []);
                        if (frame.IsLast || (frame.Type == Http2FrameType.Ping && frame.Flags == Http2Frame.AckFlag))
                        {
                            open--;
                            _answers++;
                        }
                        at += HeaderBytes + payload;
                    }
                    received.AsSpan(at, length - at).CopyTo(received);
                    length -= at;
                }
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // The flood is over, or the broker has ended it.
            }
        }

        private int Send(int calls)
        {
            int length = 0;
            for (int i = 0; i < calls; i++, _stream += 2)
            {
                Span<byte> call = _batch.AsSpan(length, _call.Length);
                _call.CopyTo(call);
                for (
                    int at = 0;
                    at < call.Length && _kind != FloodKind.Pings;
                    at += HeaderBytes + (BinaryPrimitives.ReadInt32BigEndian(call[at..]) >>> 8)
                )
                {
                    BinaryPrimitives.WriteInt32BigEndian(call[(at + 5)..], _stream);
                }

                length += call.Length;
            }
            for (int sent = 0; sent < length; )
                sent += _socket.Send(_batch.AsSpan(sent, length - sent));
            return calls;
        }
    }
}

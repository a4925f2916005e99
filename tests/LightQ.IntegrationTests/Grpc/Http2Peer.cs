using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Google.Protobuf;

namespace LightQ.IntegrationTests.Grpc;

/// <summary>
/// A peer of the control port that speaks HTTP/2 by itself, frame by frame: it does what no library of gRPC would. One
/// reader and one writer at a time.
/// </summary>
internal sealed class Http2Peer : IAsyncDisposable
{
    /// <summary>
    /// What the broker may send ahead of a call, and of the connection, for which nobody says more: it is more than any
    /// test is sent.
    /// </summary>
    private const int Window = 4 * 1024 * 1024,
        ConnectionWindow = int.MaxValue - ushort.MaxValue;

    private const int FrameHeader = 9;
    private static readonly byte[] Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8.ToArray();
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private readonly NetworkStream _stream;
    private int _lastStream = -1;

    private Http2Peer(Socket socket) => _stream = new NetworkStream(socket, ownsSocket: true);

    /// <summary>Connects to a control port of this machine.</summary>
    /// <param name="port">The port.</param>
    /// <param name="isSilent">Whether it says nothing, not even what begins a connection.</param>
    /// <param name="window">What the broker may send ahead of a call.</param>
    /// <param name="from">Its address; null for any.</param>
    public static async Task<Http2Peer> ConnectAsync(
        int port,
        bool isSilent = false,
        int window = Window,
        IPAddress? from = null
    ) => new(await OpenSocketAsync(port, isSilent, window, from));

    /// <summary>Connects to a control port of this machine, and says what begins a connection.</summary>
    public static async Task<Socket> OpenSocketAsync(
        int port,
        bool isSilent = false,
        int window = Window,
        IPAddress? from = null
    )
    {
        const int InitialWindowSize = 4;
        byte[] settings = new byte[6];
        BinaryPrimitives.WriteUInt16BigEndian(settings, InitialWindowSize);
        BinaryPrimitives.WriteInt32BigEndian(settings.AsSpan(2), window);
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        if (from is not null)
            socket.Bind(new IPEndPoint(from, 0));
        await socket.ConnectAsync(IPAddress.Loopback, port);
        byte[] first =
        [
            .. Preface,
            .. Frame(Http2FrameType.Settings, 0, 0, settings),
            .. WindowUpdate(ConnectionWindow),
        ];
        if (!isSilent)
            await socket.SendAsync(first);
        return socket;
    }

    /// <summary>Begins a call.</summary>
    /// <param name="path"><c>/package.Service/Method</c>.</param>
    /// <param name="isLast">Whether the client has nothing more to say than this.</param>
    /// <param name="requests">What it says.</param>
    /// <returns>The call's stream.</returns>
    public async Task<int> CallAsync(string path, bool isLast, params IMessage[] requests)
    {
        await SendAsync(Call(HeaderBlock(path), isLast, requests));
        return _lastStream;
    }

    /// <summary>Makes some calls that have one request, all at once.</summary>
    public Task CallAsync(string path, int calls, IMessage request) =>
        SendAsync([.. Enumerable.Range(0, calls).SelectMany(_ => Call(HeaderBlock(path), isLast: true, request))]);

    /// <summary>A call with any headers.</summary>
    public byte[] Call(byte[] headers, bool isLast, params IMessage[] requests)
    {
        _lastStream += 2;
        return
        [
            .. Headers(_lastStream, headers),
            .. Frame(
                Http2FrameType.Data,
                isLast ? Http2Frame.EndStreamFlag : (byte)0,
                _lastStream,
                [.. requests.SelectMany(Message)]
            ),
        ];
    }

    /// <summary>Ends a call in the middle.</summary>
    public Task ResetAsync(int stream) => SendAsync(Frame(Http2FrameType.Reset, 0, stream, [0, 0, 0, 8])); // CANCEL

    /// <summary>
    /// The next frame of a call; what is about the connection is dealt with. Null at the end of the connection, or when
    /// the broker says that it is near.
    /// </summary>
    public async Task<Http2Frame?> ReadAsync()
    {
        while (await ReadAnyAsync() is { } frame)
        {
            switch (frame.Type)
            {
                case Http2FrameType.GoAway:
                    return null;
                case Http2FrameType.Settings or Http2FrameType.Ping when (frame.Flags & Http2Frame.AckFlag) == 0:
                    await SendAsync(
                        Frame(frame.Type, Http2Frame.AckFlag, 0, frame.Type == Http2FrameType.Ping ? frame.Payload : [])
                    );
                    break;
                case Http2FrameType.Data or Http2FrameType.Headers or Http2FrameType.Reset:
                    return frame;
                default:
                    break;
            }
        }
        return null;
    }

    /// <summary>Sends bytes; it is no error that the broker has gone.</summary>
    public async Task SendAsync(byte[] bytes)
    {
        try
        {
            await _stream.WriteAsync(bytes);
        }
        catch (IOException)
        {
            // It has closed, which is an answer.
        }
    }

    /// <summary>The frame that begins a call.</summary>
    public static byte[] Headers(int stream, byte[] block) =>
        Frame(Http2FrameType.Headers, Http2Frame.EndHeadersFlag, stream, block);

    /// <summary>The headers of a gRPC call, and others behind them.</summary>
    public static byte[] HeaderBlock(string path, params (string Name, string Value)[] more)
    {
        (string, string)[] usual =
        [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            (":authority", "localhost"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
        ];
        return [.. usual.Concat(more).SelectMany(h => Literal(h.Item1, h.Item2))];
    }

    public static byte[] Frame(Http2FrameType type, byte flags, int stream, ReadOnlySpan<byte> payload)
    {
        byte[] frame = new byte[FrameHeader + payload.Length];
        BinaryPrimitives.WriteInt32BigEndian(frame, payload.Length << 8);
        (frame[3], frame[4]) = ((byte)type, flags);
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(5), stream);
        payload.CopyTo(frame.AsSpan(FrameHeader));
        return frame;
    }

    public ValueTask DisposeAsync() => _stream.DisposeAsync();

    private async Task<Http2Frame?> ReadAnyAsync()
    {
        using var patience = new CancellationTokenSource(Patience);
        byte[] head = new byte[FrameHeader];
        try
        {
            await _stream.ReadExactlyAsync(head, patience.Token);
            byte[] payload = new byte[BinaryPrimitives.ReadInt32BigEndian(head) >>> 8];
            await _stream.ReadExactlyAsync(payload, patience.Token);
            return new Http2Frame(
                (Http2FrameType)head[3],
                head[4],
                BinaryPrimitives.ReadInt32BigEndian(head.AsSpan(5)),
                payload
            );
        }
        catch (IOException)
        {
            return null;
        }
    }

    private static byte[] WindowUpdate(int bytes)
    {
        byte[] payload = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(payload, bytes);
        return Frame(Http2FrameType.WindowUpdate, 0, 0, payload);
    }

    /// <summary>A message as gRPC frames it.</summary>
    public static byte[] Message(IMessage message)
    {
        byte[] frame = new byte[5 + message.CalculateSize()];
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(1), frame.Length - 5);
        message.WriteTo(frame.AsSpan(5));
        return frame;
    }

    /// <summary>A header that no table remembers, in plain bytes.</summary>
    private static IEnumerable<byte> Literal(string name, string value) => [0, .. Text(name), .. Text(value)];

    private static IEnumerable<byte> Text(string text) =>
        text.Length < 127
            ? [(byte)text.Length, .. Encoding.ASCII.GetBytes(text)]
            : throw new ArgumentOutOfRangeException(nameof(text), text.Length, "up to 126 characters");
}

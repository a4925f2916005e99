using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Bench.Idle;

/// <summary>
/// A connection that has said Hello and does nothing but answer heartbeats: what a client costs that only might want
/// something.
/// </summary>
internal sealed class IdleConnection : IDisposable
{
    /// <summary>Room for a Welcome, an Error in words or a few Pings; anything longer ends the connection.</summary>
    private const int BufferBytes = 512;

    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
    {
        NoDelay = true,
    };
    private readonly byte[] _buffer = new byte[BufferBytes];
    private int _received;

    /// <summary>Why it ended; null while it is open.</summary>
    public string? End { get; private set; }

    /// <summary>Connects and greets.</summary>
    /// <param name="broker">Where to.</param>
    /// <param name="source">Where from; null leaves it to the system.</param>
    /// <param name="hello">What to say.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="LightQException">The broker refused it, or is none.</exception>
    public async Task OpenAsync(
        IPEndPoint broker,
        IPAddress? source,
        HelloFrame hello,
        CancellationToken cancellationToken
    )
    {
        if (source is not null)
            _socket.Bind(new IPEndPoint(source, 0));
        await _socket.ConnectAsync(broker, cancellationToken);
        byte[] frame = new byte[FrameHeader.Size + hello.MaxSize];
        await _socket.SendAsync(frame.AsMemory(0, FrameCodec.Write(frame, hello)), cancellationToken);
        int length;
        while (!TryFindFrame(out length, out _))
            await ReceiveAsync(cancellationToken);
        TakeWelcome(length);
        _ = AnswerAsync();
    }

    public void Dispose() => _socket.Dispose();

    private async Task AnswerAsync()
    {
        try
        {
            byte[] pong = new byte[FrameHeader.Size + default(PongFrame).MaxSize];
            while (true)
            {
                await ReceiveAsync(CancellationToken.None);
                while (TryFindFrame(out int length, out FrameType type))
                {
                    if (type != FrameType.Ping)
                    {
                        End = $"the broker sent {type}";
                        return;
                    }
                    FrameCodec.Write(
                        pong,
                        new PongFrame(
                            FrameCodec
                                .Read<PingFrame>(_buffer.AsSpan(FrameHeader.Size, length - FrameHeader.Size))
                                .Payload
                        )
                    );
                    Drop(length);
                    await _socket.SendAsync(pong);
                }
            }
        }
        catch (Exception e) when (e is SocketException or IOException or ProtocolException or ObjectDisposedException)
        {
            End = e.Message;
        }
    }

    private async ValueTask ReceiveAsync(CancellationToken cancellationToken)
    {
        int count = await _socket.ReceiveAsync(_buffer.AsMemory(_received), SocketFlags.None, cancellationToken);
        if (count == 0)
            throw new IOException("the broker closed it");
        _received += count;
    }

    private void TakeWelcome(int length)
    {
        FrameHeader.TryRead(_buffer, BufferBytes, out FrameHeader header);
        if (header.Type == FrameType.Error)
        {
            ErrorFrame error = FrameCodec.Read<ErrorFrame>(_buffer.AsSpan(FrameHeader.Size, length - FrameHeader.Size));
            throw new LightQException(error.Code, error.Message);
        }
        if (header.Type != FrameType.Welcome)
            throw new LightQException(ErrorCode.UnexpectedFrame, $"The broker answers Hello with {header.Type}.");
        Drop(length);
    }

    /// <summary>Whether a whole frame is at the buffer's front.</summary>
    private bool TryFindFrame(out int length, out FrameType type)
    {
        bool isThere =
            FrameHeader.TryRead(_buffer.AsSpan(0, _received), BufferBytes, out FrameHeader header)
            && _received >= header.Length;
        (length, type) = (header.Length, header.Type);
        return isThere;
    }

    private void Drop(int length)
    {
        _buffer.AsSpan(length, _received - length).CopyTo(_buffer);
        _received -= length;
    }
}

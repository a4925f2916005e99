using System.Net;
using System.Net.Sockets;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.DashboardTests.Figures;

/// <summary>Many connections of the data plane that do nothing but answer heartbeats.</summary>
internal sealed class IdleClients : IDisposable
{
    private const int OpenedAtOnce = 32,
        BufferBytes = 512;

    private readonly List<Socket> _sockets = [];
    private volatile string? _end;

    /// <summary>Why one has ended; null while all are open.</summary>
    public string? End => _end;

    public static async Task<IdleClients> OpenAsync(int port, int count)
    {
        var clients = new IdleClients();
        foreach (int[] some in Enumerable.Range(0, count).Chunk(OpenedAtOnce))
            await Task.WhenAll(some.Select(_ => clients.AddAsync(port)));
        return clients;
    }

    public void Dispose() => _sockets.ForEach(s => s.Dispose());

    private async Task AddAsync(int port)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        lock (_sockets)
            _sockets.Add(socket);
        await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, port), TestContext.Current.CancellationToken);
        HelloFrame hello = new(ProtocolLimits.Version, ProtocolLimits.Version, 0, "idle", HelloFrame.Anonymous, "");
        byte[] frame = new byte[FrameHeader.Size + hello.MaxSize];
        await socket.SendAsync(frame.AsMemory(0, FrameCodec.Write(frame, hello)));
        _ = AnswerAsync(socket);
    }

    private async Task AnswerAsync(Socket socket)
    {
        try
        {
            byte[] buffer = new byte[BufferBytes],
                pong = new byte[FrameHeader.Size + default(PongFrame).MaxSize];
            int received = 0;
            while (true)
            {
                int count = await socket.ReceiveAsync(buffer.AsMemory(received));
                if (count == 0)
                    throw new IOException("the broker closed it");
                received += count;
                while (
                    FrameHeader.TryRead(buffer.AsSpan(0, received), BufferBytes, out FrameHeader header)
                    && received >= header.Length
                )
                {
                    if (header.Type == FrameType.Ping)
                    {
                        Span<byte> body = buffer.AsSpan(FrameHeader.Size, header.Length - FrameHeader.Size);
                        FrameCodec.Write(pong, new PongFrame(FrameCodec.Read<PingFrame>(body).Payload));
                        await socket.SendAsync(pong);
                    }
                    else if (header.Type != FrameType.Welcome)
                    {
                        throw new IOException($"the broker sent {header.Type}");
                    }
                    buffer.AsSpan(header.Length, received - header.Length).CopyTo(buffer);
                    received -= header.Length;
                }
            }
        }
        catch (Exception e) when (e is SocketException or IOException or ProtocolException or ObjectDisposedException)
        {
            _end = e.Message;
        }
    }
}

using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.IntegrationTests.Faults;

/// <summary>A peer of any port that sends what it likes, in the clear or over TLS.</summary>
internal sealed class HostilePeer : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private readonly TcpClient _tcp = new() { NoDelay = true };
    private Stream _stream = Stream.Null;

    private HostilePeer() { }

    /// <summary>Connects to a port of this machine, and does no more than a TLS handshake.</summary>
    public static async Task<HostilePeer> ConnectAsync(int port, bool tls)
    {
        var peer = new HostilePeer();
        await peer._tcp.ConnectAsync(IPAddress.Loopback, port);
        peer._stream = peer._tcp.GetStream();
        if (!tls)
            return peer;
        var secure = new SslStream(peer._stream, leaveInnerStreamOpen: false);
        peer._stream = secure;
        await secure.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "localhost",
                RemoteCertificateValidationCallback = (_, certificate, _, _) => certificate is not null,
            }
        );
        return peer;
    }

    /// <summary>Connects to a data port and says Hello.</summary>
    public static async Task<HostilePeer> GreetAsync(int port, bool tls)
    {
        HostilePeer peer = await ConnectAsync(port, tls);
        await peer.SendAsync(Frame(new HelloFrame(1, 1, 0, "hostile", HelloFrame.Anonymous, "")));
        (FrameHeader header, _) = await peer.ReadAsync();
        Xunit.Assert.Equal(FrameType.Welcome, header.Type);
        return peer;
    }

    /// <summary>A whole frame.</summary>
    public static byte[] Frame<TBody>(TBody body, uint stream = 0, uint tag = 0)
        where TBody : IFrameBody<TBody>
    {
        byte[] frame = new byte[FrameHeader.Size + body.MaxSize];
        return frame[..FrameCodec.Write(frame, body, stream, tag)];
    }

    /// <summary>Sends bytes; it is no error that the peer has gone.</summary>
    public async Task SendAsync(ReadOnlyMemory<byte> bytes)
    {
        try
        {
            await _stream.WriteAsync(bytes);
            await _stream.FlushAsync();
        }
        catch (IOException)
        {
            // It has closed, which is an answer.
        }
    }

    /// <summary>Reads the next frame; the type is 0 at the end of the connection.</summary>
    public async Task<(FrameHeader Header, byte[] Body)> ReadAsync()
    {
        using var patience = new CancellationTokenSource(Patience);
        byte[] head = new byte[FrameHeader.Size];
        try
        {
            await _stream.ReadExactlyAsync(head, patience.Token);
            FrameHeader.TryRead(head, ProtocolLimits.DefaultFrameBytes, out FrameHeader header);
            byte[] body = new byte[header.BodyLength];
            await _stream.ReadExactlyAsync(body, patience.Token);
            return (header, body);
        }
        catch (IOException)
        {
            return default;
        }
    }

    /// <summary>Reads up to a frame of a type, past those of others; null when the connection ends before.</summary>
    public async Task<byte[]?> ReadAsync(FrameType type)
    {
        while (true)
        {
            (FrameHeader header, byte[] body) = await ReadAsync();
            if (header.Type == type)
                return body;
            if (header.Type == 0)
                return null;
        }
    }

    /// <summary>Whether the other side answers or ends the connection within a time.</summary>
    public async Task<bool> IsAnsweredAsync(TimeSpan within)
    {
        using var patience = new CancellationTokenSource(within);
        try
        {
            return await _stream.ReadAsync(new byte[1024], patience.Token) >= 0;
        }
        catch (IOException)
        {
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stream.DisposeAsync();
        _tcp.Dispose();
    }
}

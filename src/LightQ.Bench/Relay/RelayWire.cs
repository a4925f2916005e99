using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;

namespace LightQ.Bench.Relay;

/// <summary>
/// One end of a connection through the relay: a blocking socket, or an <see cref="SslStream"/> on one and nothing else.
/// </summary>
internal sealed class RelayWire : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly Socket _socket;
    private readonly SslStream? _tls;

    private RelayWire(Socket socket, SslStream? tls)
    {
        _socket = socket;
        _tls = tls;
    }

    /// <summary>Connects to the relay.</summary>
    /// <param name="host">Its address.</param>
    /// <param name="port">The end for producers or that for consumers.</param>
    /// <param name="caFile">What its certificate must come from; null for no TLS.</param>
    public static RelayWire Connect(string host, int port, string? caFile)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        socket.Connect(host, port);
        if (caFile is null)
            return new RelayWire(socket, null);
        var tls = new SslStream(new NetworkStream(socket));
        var trust = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
        };
        trust.CustomTrustStore.ImportFromPemFile(caFile);
        tls.AuthenticateAsClient(
            new SslClientAuthenticationOptions { TargetHost = host, CertificateChainPolicy = trust }
        );
        return new RelayWire(socket, tls);
    }

    /// <summary>Takes the next connection of one of the relay's ends.</summary>
    /// <param name="listener">The end.</param>
    /// <param name="certificate">The relay's certificate; null for no TLS.</param>
    public static RelayWire Accept(Socket listener, SslStreamCertificateContext? certificate)
    {
        Socket socket = listener.Accept();
        socket.NoDelay = true;
        if (certificate is null)
            return new RelayWire(socket, null);
        var tls = new SslStream(new NetworkStream(socket));
        tls.AuthenticateAsServer(new SslServerAuthenticationOptions { ServerCertificateContext = certificate });
        return new RelayWire(socket, tls);
    }

    /// <summary>Waits for bytes.</summary>
    /// <returns>How many came; 0 at the end.</returns>
    public int Receive(ArraySegment<byte> room) =>
        _tls is null ? _socket.Receive(room.AsSpan()) : _tls.Read(room.Array!, room.Offset, room.Count);

    /// <summary>Sends all of it.</summary>
    public void Send(ArraySegment<byte> bytes)
    {
        if (_tls is not null)
        {
            _tls.Write(bytes.Array!, bytes.Offset, bytes.Count);
            return;
        }
        for (ReadOnlySpan<byte> left = bytes; !left.IsEmpty; )
            left = left[_socket.Send(left)..];
    }

    /// <summary>Says that nothing more will be sent.</summary>
    public void EndSending() => _socket.Shutdown(SocketShutdown.Send);

    /// <summary>
    /// Ends a connection that has only been sent on. Of TLS 1.3 there is something to be read even so, the tickets of
    /// the session: closed with them unread, the connection would be reset, and what is still under way lost.
    /// </summary>
    public void EndUnread()
    {
        if (_tls is null)
            return;
        EndSending();
        _socket.ReceiveTimeout = (int)Patience.TotalMilliseconds;
        Span<byte> unread = stackalloc byte[1024];
        try
        {
            while (_socket.Receive(unread) != 0) { }
        }
        catch (SocketException)
        {
            // The relay ended first, or is stuck; the consumer notices that.
        }
    }

    /// <summary>Ends a wait under way, too.</summary>
    public void Dispose() => _socket.Dispose();
}

using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using LightQ.Bench.Processes;
using LightQ.Bench.Roles;
using LightQ.Server;
using LightQ.Server.Tls;

namespace LightQ.Bench.Relay;

/// <summary>
/// The yardstick's middle: copies bytes from a producer's connection to a consumer's, and knows nothing of them.
/// </summary>
/// <remarks>A run is one connection on each port; the consumer's comes first.</remarks>
internal static class RelayRole
{
    public const string Name = "relay";

    private const int BufferBytes = 256 * 1024;

    /// <summary>Relays until the parent is gone.</summary>
    /// <param name="certificateFile">What it shows on both ends; null for no TLS.</param>
    /// <param name="keyFile">The certificate's key; null when it is in the same file.</param>
    public static void Run(string? certificateFile, string? keyFile)
    {
        ParentLink.OnEnd(() => Environment.Exit(0));
        SslStreamCertificateContext? certificate = certificateFile is null
            ? null
            : TlsCertificate.Load(new TlsOptions { CertificateFile = certificateFile, KeyFile = keyFile });
        using Socket producers = Listen();
        using Socket consumers = Listen();
        var listening = new RoleMessage { Event = RoleEvent.Listening, Ports = [PortOf(producers), PortOf(consumers)] };
        RoleChannel.Say(listening);
        byte[] buffer = GC.AllocateUninitializedArray<byte>(BufferBytes, pinned: true);
        while (true)
        {
            using RelayWire consumer = RelayWire.Accept(consumers, certificate);
            using RelayWire producer = RelayWire.Accept(producers, certificate);
            Copy(producer, consumer, buffer);
        }
    }

    private static void Copy(RelayWire producer, RelayWire consumer, byte[] buffer)
    {
        try
        {
            while (producer.Receive(buffer) is var count and > 0)
                consumer.Send(new ArraySegment<byte>(buffer, 0, count));
            consumer.EndSending();
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            // One end closed its connection, as it does when a run is cancelled. The consumer counts what is missing.
        }
    }

    private static Socket Listen()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        socket.Listen();
        return socket;
    }

    private static int PortOf(Socket socket) => ((IPEndPoint)socket.LocalEndPoint!).Port;
}

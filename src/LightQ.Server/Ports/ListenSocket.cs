using System.Net;
using System.Net.Sockets;

namespace LightQ.Server.Ports;

/// <summary>Binds a port, or says in words why that is not possible.</summary>
internal static class ListenSocket
{
    private const int Backlog = 512;

    /// <summary>Binds and listens, so that no other program can take the port any more.</summary>
    /// <param name="address">The address.</param>
    /// <param name="port">The port; 0 takes a free one.</param>
    /// <param name="flag">The flag that chooses another port.</param>
    /// <exception cref="ServerStartException">The port cannot be used.</exception>
    public static Socket Open(IPAddress address, int port, string flag)
    {
        var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            if (address.Equals(IPAddress.IPv6Any))
                socket.DualMode = true; // As on the data port: :: is every address, of IPv4 too.
            socket.Bind(new IPEndPoint(address, port));
            socket.Listen(Backlog);
            return socket;
        }
        catch (SocketException e)
        {
            socket.Dispose();
            throw Explain(e, address, port, flag);
        }
    }

    /// <summary>What a failed bind means and what to do about it.</summary>
    public static ServerStartException Explain(SocketException error, IPAddress address, int port, string flag) =>
        error.SocketErrorCode switch
        {
            SocketError.AddressAlreadyInUse => new ServerStartException(
                ServerStartFailure.PortInUse,
                $"Port {port} is in use: stop the other program or choose {flag}.",
                error
            ),
            SocketError.AccessDenied => new ServerStartException(
                ServerStartFailure.AccessDenied,
                $"Port {port} is not allowed for this user: choose {flag} above 1023.",
                error
            ),
            SocketError.AddressNotAvailable or SocketError.AddressFamilyNotSupported => new ServerStartException(
                ServerStartFailure.Address,
                $"{address} is not an address of this machine: choose another --bind.",
                error
            ),
            _ => new ServerStartException(
                ServerStartFailure.Address,
                $"Cannot listen on {address}, port {port}: {error.Message}",
                error
            ),
        };
}

using System.Net;
using System.Net.Sockets;

namespace LightQ.Client.Encryption;

/// <summary>The addresses of a broker's host, all of which are tried.</summary>
internal static class HostAddresses
{
    private const string Localhost = "localhost";

    /// <exception cref="SocketException">The name is not known.</exception>
    public static IPAddress[] Of(string host) =>
        IPAddress.TryParse(host, out IPAddress? address) ? [address] : Complete(host, Dns.GetHostAddresses(host));

    /// <inheritdoc cref="Of"/>
    public static async Task<IPAddress[]> OfAsync(string host, CancellationToken cancellationToken) =>
        IPAddress.TryParse(host, out IPAddress? address)
            ? [address]
            : Complete(host, await Dns.GetHostAddressesAsync(host, cancellationToken).ConfigureAwait(false));

    /// <summary>Connects to one of them, for a protocol that comes with its own client.</summary>
    /// <exception cref="SocketException">None answers: why the first does not.</exception>
    public static async ValueTask<Stream> ConnectAsync(
        IPAddress[] addresses,
        int port,
        CancellationToken cancellationToken
    )
    {
        SocketException? first = null;
        foreach (IPAddress address in addresses)
        {
            // One after the other, so that what fails names the address.
            var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            try
            {
                await socket.ConnectAsync(new IPEndPoint(address, port), cancellationToken).ConfigureAwait(false);
                return new NetworkStream(socket, ownsSocket: true);
            }
            catch (SocketException e)
            {
                socket.Dispose();
                first ??= e;
            }
            catch
            {
                socket.Dispose();
                throw;
            }
        }
        throw first ?? new SocketException((int)SocketError.HostNotFound);
    }

    /// <summary>
    /// Both of loopback, where the name is that of this machine: many a hosts file names one of them, and the broker
    /// may listen at the other.
    /// </summary>
    private static IPAddress[] Complete(string host, IPAddress[] found) =>
        host.Equals(Localhost, StringComparison.OrdinalIgnoreCase)
            ? [.. found.Union([IPAddress.Loopback, IPAddress.IPv6Loopback]).Where(IsSupported)]
            : found;

    private static bool IsSupported(IPAddress address) =>
        address.AddressFamily == AddressFamily.InterNetworkV6 ? Socket.OSSupportsIPv6 : Socket.OSSupportsIPv4;
}

using System.Net;
using System.Net.Sockets;

namespace LightQ.Server.Limits;

/// <summary>What distinguishes peers where each gets its share: their address.</summary>
internal static class PeerNetwork
{
    private const int NetworkBytes = 8;

    /// <summary>
    /// The address of a peer; of IPv6 its /64 network, since the peer has all of that to choose addresses from.
    /// <see cref="IPAddress.None"/> when it is not known.
    /// </summary>
    public static IPAddress Of(EndPoint? remote) => Of((remote as IPEndPoint)?.Address);

    /// <summary>The same of an address.</summary>
    public static IPAddress Of(IPAddress? remote)
    {
        IPAddress address = remote ?? IPAddress.None;
        if (address.IsIPv4MappedToIPv6)
            return address.MapToIPv4();
        if (address.AddressFamily != AddressFamily.InterNetworkV6)
            return address;
        byte[] bytes = address.GetAddressBytes();
        bytes.AsSpan(NetworkBytes).Clear();
        return new IPAddress(bytes);
    }
}

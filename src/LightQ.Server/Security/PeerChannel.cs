using System.Net;

namespace LightQ.Server.Security;

/// <summary>What is known of a connection before the peer has authenticated.</summary>
/// <param name="Remote">The peer's address; null when it is not known.</param>
/// <param name="CertificateNames">
/// The names in a client certificate that TLS has verified: its common name and its DNS names. Empty without one.
/// </param>
internal readonly record struct PeerChannel(IPEndPoint? Remote, IReadOnlyList<string> CertificateNames)
{
    public PeerChannel(EndPoint? remote)
        : this(remote as IPEndPoint, []) { }

    /// <summary>Whether the peer is on this machine.</summary>
    public bool IsLocal =>
        Remote is not null
        && IPAddress.IsLoopback(Remote.Address.IsIPv4MappedToIPv6 ? Remote.Address.MapToIPv4() : Remote.Address);

    /// <summary>The address, for logs.</summary>
    public override string ToString() => Remote?.ToString() ?? "unknown";
}

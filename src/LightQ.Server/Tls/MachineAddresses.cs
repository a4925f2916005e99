using System.Net;
using System.Net.NetworkInformation;

namespace LightQ.Server.Tls;

/// <summary>By which addresses other machines may reach a broker.</summary>
internal static class MachineAddresses
{
    /// <summary>
    /// The address it listens on, or all of the machine's where it listens on all; none of loopback, nor of one link
    /// alone.
    /// </summary>
    public static IEnumerable<IPAddress> Of(IPAddress bind)
    {
        if (IPAddress.IsLoopback(bind))
            return [];
        IEnumerable<IPAddress> addresses =
            bind.Equals(IPAddress.Any) || bind.Equals(IPAddress.IPv6Any)
                ? NetworkInterface
                    .GetAllNetworkInterfaces()
                    .SelectMany(i => i.GetIPProperties().UnicastAddresses)
                    .Select(a => a.Address)
                : [bind];
        return addresses.Where(a => !IPAddress.IsLoopback(a) && !a.IsIPv6LinkLocal).Distinct();
    }
}

using System.Net;
using System.Net.Sockets;

namespace LightQ.Cli.Clusters;

/// <summary>
/// Ports of this machine for servers that keep theirs when they start again. They lie below those that the system hands
/// out, which a client's connection could take meanwhile.
/// </summary>
internal static class LoopbackPorts
{
    private const int First = 20_000,
        Last = 32_000;

    /// <summary>The first of so many ports in a row that nobody listens on.</summary>
    /// <exception cref="IOException">There are none.</exception>
    public static int Find(int count)
    {
        int start = Random.Shared.Next(First, Last - count);
        for (int tried = 0; tried < Last - First; tried++)
        {
            int first = First + ((start - First + tried) % (Last - First - count));
            if (Enumerable.Range(first, count).All(IsFree))
                return first;
        }
        throw new IOException($"No {count} ports in a row from {First} to {Last} of this machine are free.");
    }

    private static bool IsFree(int port)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}

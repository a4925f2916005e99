using System.Net;
using System.Net.Sockets;

namespace LightQ.IntegrationTests;

/// <summary>Ports for what stops and starts again on them.</summary>
/// <remarks>They lie below those that the system hands out: in between nobody else gets them by chance, nor does a client connect to itself.</remarks>
internal static class FreePorts
{
    private const int First = 20_000;
    private const int Last = 32_000;

    /// <summary>The first of so many ports in a row that nobody listens on.</summary>
    public static int Find(int count)
    {
        while (true)
        {
            int first = Random.Shared.Next(First, Last);
            if (Enumerable.Range(first, count).All(IsFree))
                return first;
        }
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

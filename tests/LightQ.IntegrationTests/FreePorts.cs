using System.Net;
using System.Net.Sockets;

namespace LightQ.IntegrationTests;

/// <summary>Ports for what stops and starts again on them.</summary>
/// <remarks>
/// They lie below those that the system hands out: in between nobody else gets them by chance, nor does a client
/// connect to itself. None is given twice before all have been: that nobody listens may mean that its broker was just
/// killed and is about to come back.
/// </remarks>
internal static class FreePorts
{
    private const int First = 20_000;
    private const int Last = 32_000;

    private static readonly Lock Gate = new();
    private static int _next = Random.Shared.Next(First, Last); // Not the ports of another run of the tests.

    /// <summary>The first of so many ports in a row that nobody listens on.</summary>
    public static int Find(int count)
    {
        lock (Gate)
        {
            while (true)
            {
                if (_next + count > Last)
                    _next = First;
                int first = _next;
                _next += count;
                if (Enumerable.Range(first, count).All(IsFree))
                    return first;
            }
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

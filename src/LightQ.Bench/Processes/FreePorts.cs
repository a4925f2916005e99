using System.Net;
using System.Net.Sockets;

namespace LightQ.Bench.Processes;

/// <summary>Ports of loopback that nobody listens on.</summary>
internal static class FreePorts
{
    /// <summary>So many that the system gives, all different. Somebody else may get one before it is used.</summary>
    public static int[] Take(int count)
    {
        var listeners = new TcpListener[count];
        for (int i = 0; i < count; i++)
        {
            listeners[i] = new TcpListener(IPAddress.Loopback, 0);
            listeners[i].Start();
        }
        int[] ports = [.. listeners.Select(listener => ((IPEndPoint)listener.LocalEndpoint).Port)];
        foreach (TcpListener listener in listeners)
            listener.Dispose();
        return ports;
    }
}

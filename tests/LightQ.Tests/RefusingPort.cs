using System.Net;
using System.Net.Sockets;

namespace LightQ.Tests;

/// <summary>A port that refuses every connection as long as this lives: it is taken, but nobody listens.</summary>
internal sealed class RefusingPort : IDisposable
{
    private readonly Socket _bound = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

    public RefusingPort() => _bound.Bind(new IPEndPoint(IPAddress.Loopback, 0));

    public int Port => ((IPEndPoint)_bound.LocalEndPoint!).Port;

    public void Dispose() => _bound.Dispose();
}

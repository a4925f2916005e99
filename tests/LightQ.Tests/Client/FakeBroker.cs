using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.Protocol;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>A listener on a free port; each accepted connection is scripted by the test, frame by frame.</summary>
internal sealed class FakeBroker : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);

    public FakeBroker() => _listener.Start();

    public LightQClientOptions Options =>
        new()
        {
            DataPort = Port,
            ReconnectDelay = TimeSpan.FromMilliseconds(1),
            MaxReconnectDelay = TimeSpan.FromMilliseconds(2),
            ConnectTimeout = TimeSpan.FromSeconds(20),
        };

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    /// <summary>Whether a connection waits to be accepted.</summary>
    public bool HasPending => _listener.Pending();

    /// <summary>As it is advertised to clients.</summary>
    public string Address => $"127.0.0.1:{Port}";

    /// <summary>The options of a client that knows this broker first, and then others.</summary>
    public LightQClientOptions With(params int[] otherPorts) =>
        Options with
        {
            OtherBrokers = [.. otherPorts.Select(port => new BrokerEndpoint { Host = "127.0.0.1", DataPort = port })],
        };

    /// <summary>Accepts the next connection and answers its Hello.</summary>
    public async Task<FakeConnection> AcceptAsync(
        uint heartbeatMilliseconds = 60_000,
        ulong features = 0,
        uint maxFrameBytes = ProtocolLimits.DefaultFrameBytes,
        long time = 0
    )
    {
        var connection = new FakeConnection(
            await _listener.AcceptTcpClientAsync(TestContext.Current.CancellationToken)
        );
        await connection.WelcomeAsync(heartbeatMilliseconds, features, maxFrameBytes, time);
        return connection;
    }

    public Task<TcpClient> AcceptRawAsync() =>
        _listener.AcceptTcpClientAsync(TestContext.Current.CancellationToken).AsTask();

    public void Dispose() => _listener.Dispose();
}

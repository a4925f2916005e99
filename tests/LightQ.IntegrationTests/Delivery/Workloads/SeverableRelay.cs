using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace LightQ.IntegrationTests.Delivery.Workloads;

/// <summary>A relay between one client and the broker, which a test cuts for good: to the broker its client has died.</summary>
internal sealed class SeverableRelay : IAsyncDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly ConcurrentBag<Socket> _sockets = [];
    private readonly CancellationTokenSource _end = new();
    private readonly int _target;
    private readonly Task _accepting;

    /// <param name="target">The broker's data port.</param>
    public SeverableRelay(int target)
    {
        _target = target;
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        _accepting = AcceptAsync();
    }

    public int Port => ((IPEndPoint)_listener.LocalEndPoint!).Port;

    /// <summary>Closes what is open, and takes nothing any more.</summary>
    public void Sever()
    {
        _end.Cancel();
        _listener.Dispose();
        foreach (Socket socket in _sockets)
            socket.Dispose();
    }

    public async ValueTask DisposeAsync()
    {
        Sever();
        await _accepting;
        _end.Dispose();
    }

    private async Task AcceptAsync()
    {
        var relays = new List<Task>();
        try
        {
            while (true)
                relays.Add(ServeAsync(await _listener.AcceptAsync(_end.Token)));
        }
        catch (Exception e) when (e is OperationCanceledException or SocketException or ObjectDisposedException)
        {
            await Task.WhenAll(relays);
        }
    }

    private async Task ServeAsync(Socket client)
    {
        var broker = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        client.NoDelay = true;
        _sockets.Add(client);
        _sockets.Add(broker);
        try
        {
            await broker.ConnectAsync(IPAddress.Loopback, _target, _end.Token);
            await Task.WhenAll(PumpAsync(client, broker), PumpAsync(broker, client));
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // Either end went, or the relay was cut.
        }
    }

    private async Task PumpAsync(Socket from, Socket to)
    {
        byte[] buffer = new byte[64 * 1024];
        try
        {
            while (await from.ReceiveAsync(buffer, _end.Token) is var read and > 0)
                await to.SendAsync(buffer.AsMemory(0, read), _end.Token);
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // As above.
        }
        from.Dispose();
        to.Dispose();
    }
}

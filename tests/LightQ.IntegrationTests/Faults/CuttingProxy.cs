using System.Net;
using System.Net.Sockets;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// A proxy between clients and a broker that goes on handing the broker what the client sent, keeps the answers to
/// itself, and cuts the connection: the broker has stored what the client was never told of.
/// </summary>
internal sealed class CuttingProxy : IAsyncDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly CancellationTokenSource _end = new();
    private readonly Lock _lock = new();
    private readonly Random _random;
    private readonly int _target;
    private readonly int _most;
    private readonly Task _accepting;
    private int _cuts;

    /// <param name="target">The broker's port.</param>
    /// <param name="cuts">How many connections are cut; those behind them are left alone.</param>
    /// <param name="random">Decides when each is cut.</param>
    public CuttingProxy(int target, int cuts, Random random)
    {
        (_target, _most, _random) = (target, cuts, random);
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        _accepting = AcceptAsync();
    }

    public int Port => ((IPEndPoint)_listener.LocalEndPoint!).Port;

    /// <summary>Connections cut so far.</summary>
    public int Cuts => Volatile.Read(ref _cuts);

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        _listener.Dispose();
        await _accepting;
        _end.Dispose();
    }

    private async Task AcceptAsync()
    {
        var connections = new List<Task>();
        try
        {
            while (true)
                connections.Add(ServeAsync(await _listener.AcceptAsync(_end.Token)));
        }
        catch (OperationCanceledException)
        {
            await Task.WhenAll(connections);
        }
    }

    private async Task ServeAsync(Socket client)
    {
        using var broker = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        using var answers = CancellationTokenSource.CreateLinkedTokenSource(_end.Token);
        try
        {
            await broker.ConnectAsync(IPAddress.Loopback, _target, _end.Token);
            (long cutBehind, int delay) = NextCut();
            Task down = PumpAsync(broker, client, long.MaxValue, answers.Token);
            if (await PumpAsync(client, broker, cutBehind, answers.Token))
            {
                await answers.CancelAsync(); // From here on the client hears nothing, and the broker still stores.
                await down;
                await Task.Delay(delay, _end.Token);
                Interlocked.Increment(ref _cuts);
            }
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException)
        {
            // Either end went, or the proxy ends.
        }
        finally
        {
            client.Dispose();
        }
    }

    private (long Behind, int Delay) NextCut()
    {
        lock (_lock)
            return Cuts >= _most ? (long.MaxValue, 0) : (_random.Next(1, 100_000), _random.Next(5));
    }

    /// <summary>Hands bytes on until one end closes or enough have passed.</summary>
    /// <returns>True for enough.</returns>
    private static async Task<bool> PumpAsync(Socket from, Socket to, long enough, CancellationToken stop)
    {
        byte[] buffer = new byte[16 * 1024];
        try
        {
            for (long passed = 0; passed < enough; )
            {
                int read = await from.ReceiveAsync(buffer, stop);
                if (read == 0)
                    return false;
                await to.SendAsync(buffer.AsMemory(0, read), stop);
                passed += read;
            }
            return true;
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException)
        {
            return false;
        }
    }
}

using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Text;

namespace LightQ.ClusterTests.Faults;

/// <summary>
/// A network between two programs on loopback that can be cut: what is under way is held and delivered when it heals,
/// as behind a switch that was off, and connections stay.
/// </summary>
internal sealed class HoldingProxy : IAsyncDisposable
{
    private readonly CancellationTokenSource _end = new();
    private readonly int _target;
    private readonly byte[] _mark;
    private readonly EngineWitness? _witness;
    private Socket? _listener;
    private Task _accepting = Task.CompletedTask;
    private volatile TaskCompletionSource? _held,
        _heldMarked,
        _heldToClient,
        _heldToServer;

    /// <param name="target">The port behind it.</param>
    /// <param name="mark">
    /// What the first bytes of some connections' clients hold, which can be cut by themselves; empty for none.
    /// </param>
    /// <param name="witness">Who reads along; null for nobody.</param>
    public HoldingProxy(int target, string mark = "", EngineWitness? witness = null)
    {
        (_target, _mark, _witness) = (target, Encoding.UTF8.GetBytes(mark), witness);
        Open();
        Port = ((IPEndPoint)_listener!.LocalEndPoint!).Port;
    }

    public int Port { get; }

    /// <summary>Connects again what <see cref="CloseAsync"/> has closed.</summary>
    public void Open()
    {
        if (_listener is not null)
            return;
        _listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, Port));
        _listener.Listen();
        _accepting = AcceptAsync(_listener);
    }

    /// <summary>Refuses new connections, as the machine of a program that does not run.</summary>
    public async Task CloseAsync()
    {
        _listener?.Dispose();
        _listener = null;
        await _accepting;
    }

    /// <summary>Nothing passes any more, in either direction.</summary>
    public void Cut() => _held ??= NewHold();

    /// <summary>The same for the marked connections alone.</summary>
    public void CutMarked() => _heldMarked ??= NewHold();

    /// <summary>Nothing passes any more in one direction; the other one goes on.</summary>
    public void CutOneWay(bool toClient)
    {
        if (toClient)
            _heldToClient ??= NewHold();
        else
            _heldToServer ??= NewHold();
    }

    /// <summary>What was held is delivered, and everything passes again.</summary>
    public void Heal()
    {
        Interlocked.Exchange(ref _held, null)?.SetResult();
        Interlocked.Exchange(ref _heldMarked, null)?.SetResult();
        Interlocked.Exchange(ref _heldToClient, null)?.SetResult();
        Interlocked.Exchange(ref _heldToServer, null)?.SetResult();
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await CloseAsync();
        _end.Dispose();
    }

    private static TaskCompletionSource NewHold() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private async Task AcceptAsync(Socket listener)
    {
        var connections = new List<Task>();
        try
        {
            while (true)
            {
                connections.RemoveAll(connection => connection.IsCompleted);
                connections.Add(ServeAsync(await listener.AcceptAsync(_end.Token)));
            }
        }
        catch (Exception e) when (e is OperationCanceledException or SocketException or ObjectDisposedException)
        {
            // It is closed. What is connected lasts as long as both ends do.
            if (_end.IsCancellationRequested)
                await Task.WhenAll(connections);
        }
    }

    private async Task ServeAsync(Socket client)
    {
        using var behind = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        (client.NoDelay, behind.NoDelay) = (true, true);
        try
        {
            var isMarked = new StrongBox<bool>();
            await PassAsync(isMarked);
            await behind.ConnectAsync(IPAddress.Loopback, _target, _end.Token);
            EngineWitness.Connection? read = _witness?.Connect();
            await Task.WhenAny(
                PumpAsync(client, behind, isMarked, read, isClient: true),
                PumpAsync(behind, client, isMarked, read, isClient: false)
            );
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException)
        {
            // Nobody listens there now, or the proxy ends.
        }
        finally
        {
            client.Dispose();
        }
    }

    private async Task PumpAsync(
        Socket from,
        Socket to,
        StrongBox<bool> isMarked,
        EngineWitness.Connection? witness,
        bool isClient
    )
    {
        byte[] buffer = new byte[64 * 1024];
        bool isFirst = isClient && _mark.Length != 0;
        try
        {
            while (await from.ReceiveAsync(buffer, _end.Token) is > 0 and var read)
            {
                if (isFirst)
                    isMarked.Value = buffer.AsSpan(0, read).IndexOf(_mark) >= 0;
                isFirst = false;
                witness?.Read(buffer.AsSpan(0, read), isClient);
                await PassAsync(isMarked);
                if ((isClient ? _heldToServer : _heldToClient) is { } held)
                    await held.Task.WaitAsync(_end.Token);
                for (int sent = 0; sent < read; )
                    sent += await to.SendAsync(buffer.AsMemory(sent, read - sent), _end.Token);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or OperationCanceledException)
        {
            // Either end went, or the proxy ends.
        }
    }

    private async Task PassAsync(StrongBox<bool> isMarked)
    {
        if (_held is { } held)
            await held.Task.WaitAsync(_end.Token);
        if (isMarked.Value && _heldMarked is { } heldMarked)
            await heldMarked.Task.WaitAsync(_end.Token);
    }
}

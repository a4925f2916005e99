using System.Globalization;
using System.Net;
using System.Net.Sockets;
using LightQ.Bench.Processes;
using LightQ.Bench.Roles;

namespace LightQ.Bench.Nats;

/// <summary>A nats-server of our own, found on the PATH, on a free port.</summary>
internal sealed class NatsServer : IAsyncDisposable
{
    private const string Program = "nats-server";

    private static readonly TimeSpan StartTimeout = TimeSpan.FromSeconds(10);

    private readonly ChildProcess _process;

    private NatsServer(ChildProcess process, string endpoint)
    {
        _process = process;
        Endpoint = endpoint;
    }

    /// <summary>host:port.</summary>
    public string Endpoint { get; }

    public static async Task<NatsServer> StartAsync(CancellationToken cancellationToken)
    {
        string path =
            Find()
            ?? throw new BenchException(
                BenchFailure.Unreachable,
                $"There is no {Program} on the PATH: install it, or name a running one with --nats-url."
            );
        int port = FreePort();
        ChildProcess process = ChildProcess.Start(
            Program,
            [
                RoleProcess.Command,
                GuardRole.Name,
                path,
                "--addr",
                "127.0.0.1",
                "--port",
                port.ToString(CultureInfo.InvariantCulture),
            ]
        );
        var server = new NatsServer(process, $"127.0.0.1:{port}");
        try
        {
            await process.WhileAliveAsync(WaitUntilUpAsync(port, cancellationToken));
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();

    private static string? Find() =>
        (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(Path.PathSeparator)
            .Append("/usr/sbin")
            .Select(directory => Path.Combine(directory, Program))
            .FirstOrDefault(File.Exists);

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    private static async Task WaitUntilUpAsync(int port, CancellationToken cancellationToken)
    {
        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        timeout.CancelAfter(StartTimeout);
        while (true)
        {
            using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
            try
            {
                await socket.ConnectAsync(IPAddress.Loopback, port, timeout.Token);
                return;
            }
            catch (SocketException)
            {
                await Task.Delay(50, timeout.Token);
            }
        }
    }
}

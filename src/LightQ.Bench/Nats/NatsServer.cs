using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using LightQ.Bench.Processes;
using LightQ.Bench.Roles;

namespace LightQ.Bench.Nats;

/// <summary>A nats-server of our own, found on the PATH, on a free port.</summary>
internal sealed partial class NatsServer : IAsyncDisposable
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
        int port = FreePorts.Take(1)[0];
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

    /// <summary>The program; null when there is none.</summary>
    public static string? Find() =>
        (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(Path.PathSeparator)
            .Append("/usr/sbin")
            .Select(directory => Path.Combine(directory, Program))
            .FirstOrDefault(File.Exists);

    /// <summary>What version a program says that it is, as <c>nats-server: v2.9.10</c>.</summary>
    public static async Task<Version> VersionOfAsync(string program, CancellationToken cancellationToken)
    {
        using Process asked = Process.Start(
            new ProcessStartInfo(program, ["--version"]) { RedirectStandardOutput = true }
        )!;
        string text = await asked.StandardOutput.ReadToEndAsync(cancellationToken);
        await asked.WaitForExitAsync(cancellationToken);
        return VersionText().Match(text) is { Success: true } match
            ? Version.Parse(match.Value)
            : throw new BenchException(
                BenchFailure.Failed,
                $"'{program} --version' says '{text.Trim()}', which is no version."
            );
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();

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

    [GeneratedRegex(@"\d+\.\d+\.\d+")]
    private static partial Regex VersionText();
}

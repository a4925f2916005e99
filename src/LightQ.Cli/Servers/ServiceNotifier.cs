using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace LightQ.Cli.Servers;

/// <summary>
/// Tells systemd how the process is: ready, reloading, stopping, alive. The protocol of sd_notify(3): datagrams of
/// assignments to the socket that NOTIFY_SOCKET names.
/// </summary>
/// <remarks>
/// Microsoft.Extensions.Hosting.Systemd says READY and STOPPING and nothing else: no reload, no watchdog, no more time
/// for a drain. What cannot be sent is not: the service manager then judges by its time-outs.
/// </remarks>
internal sealed class ServiceNotifier : IDisposable
{
    private const string SocketVariable = "NOTIFY_SOCKET",
        WatchdogVariable = "WATCHDOG_USEC",
        WatchdogProcessVariable = "WATCHDOG_PID";

    private readonly Socket _socket = new(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified)
    {
        Blocking = false,
    }; // A manager that does not read must not hold up the broker.
    private readonly UnixDomainSocketEndPoint _manager;
    private readonly Timer? _watchdog;

    private ServiceNotifier(string path, TimeSpan? watchdog)
    {
        // @ stands for a name outside the file system.
        _manager = new UnixDomainSocketEndPoint(path[0] == '@' ? '\0' + path[1..] : path);
        if (watchdog is { } interval)
            _watchdog = new Timer(_ => Send("WATCHDOG=1", tries: 1), null, interval / 2, interval / 2);
    }

    /// <summary>The one that the environment asks for; null where it asks for none.</summary>
    public static ServiceNotifier? FromEnvironment()
    {
        if (
            Environment.GetEnvironmentVariable(SocketVariable) is not { Length: > 1 } path
            || path[0] is not ('/' or '@')
        )
        {
            return null;
        }

        bool isMeant =
            Environment.GetEnvironmentVariable(WatchdogProcessVariable) is not { Length: > 0 } process
            || process == Environment.ProcessId.ToString(CultureInfo.InvariantCulture);
        bool isWatched =
            long.TryParse(
                Environment.GetEnvironmentVariable(WatchdogVariable),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out long microseconds
            )
            && microseconds > 0;
        return new ServiceNotifier(path, isMeant && isWatched ? TimeSpan.FromMicroseconds(microseconds) : null);
    }

    /// <summary>It takes work: what waits for the service may start.</summary>
    public void Ready() => Send("READY=1\nSTATUS=Ready");

    /// <summary>It reads its configuration again, until it is <see cref="Ready"/>.</summary>
    public void Reloading()
    {
        long now = Stopwatch.GetTimestamp() / (Stopwatch.Frequency / 1_000_000);
        Send(FormattableString.Invariant($"RELOADING=1\nMONOTONIC_USEC={now}\nSTATUS=Reading the configuration again"));
    }

    /// <summary>It stops.</summary>
    /// <param name="drain">
    /// How long clients get to finish, which the service manager is asked to add to what it allows.
    /// </param>
    public void Stopping(TimeSpan drain)
    {
        long most = (long)(drain + TimeSpan.FromSeconds(30)).TotalMicroseconds;
        Send(FormattableString.Invariant($"STOPPING=1\nSTATUS=Stopping\nEXTEND_TIMEOUT_USEC={most}"));
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _watchdog?.Dispose();
        _socket.Dispose();
    }

    /// <summary>
    /// What must not be missed is tried for two seconds while the manager does not read; a sign of life is not.
    /// </summary>
    private void Send(string assignments, int tries = 40)
    {
        while (tries-- > 0)
        {
            try
            {
                _socket.SendTo(Encoding.UTF8.GetBytes(assignments), _manager);
                return;
            }
            catch (SocketException e) when (e.SocketErrorCode == SocketError.WouldBlock && tries > 0)
            {
                Thread.Sleep(50);
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                return; // The manager is gone or does not read, or the watchdog's last turn came after the end.
            }
        }
    }
}

using System.Globalization;
using LightQ.Bench.Processes;
using LightQ.Bench.Roles;

namespace LightQ.Bench.Idle;

/// <summary>
/// The idle connections beside what a bench measures: in processes of their own, each from a loopback address of its
/// own, which has ports of its own.
/// </summary>
internal sealed class IdleProcesses(IBenchConsole console) : IAsyncDisposable
{
    /// <summary>Files and sockets of a broker or a client besides the connections.</summary>
    public const int OtherDescriptors = 500;

    private const int MostPerProcess = 10_000;

    private readonly List<RoleProcess> _processes = [];
    private long _opened;

    /// <summary>How many idle connections a broker that this process starts has descriptors for.</summary>
    /// <param name="active">Connections that it has besides.</param>
    public static int RoomBeside(long active) =>
        (int)Math.Clamp(DescriptorLimit.Read() - active - OtherDescriptors, 0, int.MaxValue);

    /// <summary>Sees that a broker that this process starts has descriptors for them.</summary>
    /// <param name="idle">How many are wanted.</param>
    /// <param name="active">Connections that it has besides.</param>
    /// <exception cref="ArgumentException">It has not.</exception>
    public static void ThrowIfTooMany(long idle, long active)
    {
        int room = RoomBeside(active);
        if (idle > room)
        {
            throw new ArgumentException(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"A process may have {DescriptorLimit.Read():N0} descriptors here (ulimit -Hn); beside "
                        + $"{active:N0} other connections that leaves {room:N0} idle ones, and {idle:N0} are wanted."
                ),
                nameof(idle)
            );
        }
    }

    /// <summary>Opens them.</summary>
    /// <param name="server">The broker.</param>
    /// <param name="count">How many.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public async Task OpenAsync(string server, long count, CancellationToken cancellationToken)
    {
        int perProcess = Math.Max(1, Math.Min(MostPerProcess, RoomBeside(0)));
        while (_opened < count)
        {
            console.Progress(
                string.Create(CultureInfo.InvariantCulture, $"idle connections: {_opened:N0} of {count:N0}")
            );
            RoleProcess process = RoleProcess.Start(IdleRole.Name);
            _processes.Add(process);
            int idle = (int)Math.Min(perProcess, count - _opened);
            await process.SendAsync(
                new IdleSpec
                {
                    Endpoint = server,
                    Connections = idle,
                    SourceAddress = string.Create(CultureInfo.InvariantCulture, $"127.0.0.{1 + _processes.Count}"),
                },
                IdleJson.Default.IdleSpec
            );
            await process.ExpectAsync(RoleEvent.Ready, cancellationToken);
            _opened += idle;
        }
    }

    /// <summary>Sees that all of them are open still.</summary>
    /// <exception cref="BenchException">They are not: what was measured is not what was said.</exception>
    public async Task CheckAsync(CancellationToken cancellationToken)
    {
        long open = 0;
        string? why = null;
        foreach (RoleProcess process in _processes)
        {
            await process.SendAsync("count");
            RoleMessage counted = await process.ExpectAsync(RoleEvent.Done, cancellationToken);
            open += counted.Messages;
            why ??= counted.Error;
        }
        if (open < _opened)
        {
            throw new BenchException(
                BenchFailure.Failed,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{_opened - open:N0} of {_opened:N0} idle connections have ended; the first: {why}."
                )
            );
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (RoleProcess process in _processes)
            await process.DisposeAsync();
    }
}

using System.Runtime.InteropServices;

namespace LightQ.Cli.Servers;

/// <summary>
/// Ctrl-C and SIGTERM: the first asks the command to end, the next does what <see cref="Hurry"/> says, and the one
/// after ends the process at once.
/// </summary>
internal sealed class Interruption : IDisposable
{
    private const int SignalBase = 128;

    private readonly CancellationTokenSource _source = new();
    private readonly PosixSignalRegistration _interrupt;
    private readonly PosixSignalRegistration _terminate;

    public Interruption()
    {
        Current = this;
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, c => OnSignal(c, 2));
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, c => OnSignal(c, 15));
    }

    /// <summary>The command's.</summary>
    public static Interruption? Current { get; private set; }

    /// <summary>What the second signal does; null when it ends the process at once.</summary>
    public Action? Hurry { get; set; }

    /// <summary>Cancelled by the first signal.</summary>
    public CancellationToken Token => _source.Token;

    public void Dispose()
    {
        _interrupt.Dispose();
        _terminate.Dispose();
        _source.Dispose();
    }

    private void OnSignal(PosixSignalContext context, int number)
    {
        context.Cancel = true;
        if (!_source.IsCancellationRequested)
        {
            _source.Cancel();
            return;
        }
        Action? hurry = Hurry;
        if (hurry is null)
            Environment.Exit(SignalBase + number);
        Hurry = null;
        hurry();
    }
}

using System.Runtime.InteropServices;

namespace LightQ.Cli.Hosting;

/// <summary>Ctrl-C and SIGTERM: the first asks the command to end, the second ends the process at once.</summary>
internal sealed class Interruption : IDisposable
{
    private const int SignalBase = 128;

    private readonly CancellationTokenSource _source = new();
    private readonly PosixSignalRegistration _interrupt;
    private readonly PosixSignalRegistration _terminate;

    public Interruption()
    {
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, c => OnSignal(c, 2));
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, c => OnSignal(c, 15));
    }

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
        if (_source.IsCancellationRequested)
            Environment.Exit(SignalBase + number);
        _source.Cancel();
    }
}

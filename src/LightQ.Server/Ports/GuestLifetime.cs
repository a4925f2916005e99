using Microsoft.Extensions.Hosting;

namespace LightQ.Server.Ports;

/// <summary>The web host's lifetime inside another program's process: no signal handlers, no console hooks.</summary>
internal sealed class GuestLifetime : IHostLifetime
{
    public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}

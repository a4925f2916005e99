using LightQ.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace LightQ.Client.Hosting;

/// <summary>Makes a topic, or changes its settings, before anything of the host begins that may use it.</summary>
internal sealed class TopicService(IServiceProvider services, TopicSpec topic) : IHostedLifecycleService
{
    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        LightQClient client = services.GetRequiredService<LightQClient>();
        while (true)
        {
            try
            {
                await client.Topics.EnsureAsync(topic, cancellationToken).ConfigureAwait(false);
                return;
            }
            catch (LightQException e) when (e.Code == ErrorCode.Unavailable && client.Options.WaitForBroker)
            {
                await Task.Delay(client.Options.MaxReconnectDelay, client.Options.TimeProvider, cancellationToken).ConfigureAwait(false);
            }
        }
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}

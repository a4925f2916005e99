using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace LightQ.Client.Hosting;

/// <summary>A processor that begins and ends with its host.</summary>
internal sealed class ProcessorService : IHostedService
{
    private readonly LightQProcessor _processor;

    /// <param name="services">The application's.</param>
    /// <param name="registration">What to process and how.</param>
    public ProcessorService(IServiceProvider services, ProcessorRegistration registration)
    {
        _processor = services.GetRequiredService<LightQClient>().CreateProcessor(registration.Topic, registration.Group, registration.Options);
        var scopes = services.GetRequiredService<IServiceScopeFactory>();
        _processor.ProcessMessageAsync += async args =>
        {
            AsyncServiceScope scope = scopes.CreateAsyncScope();
            await using (scope.ConfigureAwait(false))
                await registration.Handle(scope.ServiceProvider, args).ConfigureAwait(false);
        };
        registration.Configure?.Invoke(services, _processor);
    }

    public Task StartAsync(CancellationToken cancellationToken) => _processor.StartAsync(cancellationToken);

    public Task StopAsync(CancellationToken cancellationToken) => _processor.StopAsync(cancellationToken);
}

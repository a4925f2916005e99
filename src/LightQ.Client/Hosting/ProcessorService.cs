using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace LightQ.Client.Hosting;

/// <summary>
/// A processor that begins and ends with its host; in the background, if its client waits for a broker that is not
/// there.
/// </summary>
internal sealed class ProcessorService : BackgroundService
{
    private readonly LightQProcessor _processor;
    private readonly StartService _start;

    /// <param name="services">The application's.</param>
    /// <param name="registration">What to process and how.</param>
    public ProcessorService(IServiceProvider services, ProcessorRegistration registration)
    {
        _start = services.Of<StartService>(registration.ClientKey);
        _processor = services
            .Of<LightQClient>(registration.ClientKey)
            .CreateProcessor(registration.Topic, registration.Group, registration.Options);
        var scopes = services.GetRequiredService<IServiceScopeFactory>();
        _processor.ProcessMessageAsync += async args =>
        {
            AsyncServiceScope scope = scopes.CreateAsyncScope();
            await using (scope.ConfigureAwait(false))
                await registration.Handle(scope.ServiceProvider, args).ConfigureAwait(false);
        };
        registration.Configure?.Invoke(services, _processor);
    }

    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        if (
            !_start.Ready.IsCompletedSuccessfully
            || !await _start.TryAsync(_processor.StartAsync, cancellationToken).ConfigureAwait(false)
        )
        {
            await base.StartAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    public override async Task StopAsync(CancellationToken cancellationToken)
    {
        await base.StopAsync(cancellationToken).ConfigureAwait(false);
        await _processor.StopAsync(cancellationToken).ConfigureAwait(false);
    }

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        await _start.Ready.WaitAsync(stoppingToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        // What failed, if not this, is said where it failed.
        if (_start.Ready.IsCompletedSuccessfully)
            await _processor.StartAsync(stoppingToken).ConfigureAwait(false);
    }
}

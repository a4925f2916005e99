using System.Runtime.ExceptionServices;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace LightQ.Client.Hosting;

/// <summary>
/// A processor that begins and ends with its host; in the background, if its client waits for a broker that is not
/// there.
/// </summary>
internal sealed class ProcessorService : BackgroundService
{
    private readonly ProcessorRegistration _registration;
    private readonly IServiceScopeFactory _scopes;
    private readonly ILogger _logger;
    private readonly LightQProcessor _processor;
    private readonly StartService _start;

    /// <param name="services">The application's.</param>
    /// <param name="registration">What to process and how.</param>
    public ProcessorService(IServiceProvider services, ProcessorRegistration registration)
    {
        _registration = registration;
        _scopes = services.GetRequiredService<IServiceScopeFactory>();
        _start = services.Of<StartService>(registration.ClientKey);
        LightQClient client = services.Of<LightQClient>(registration.ClientKey);
        _logger = client.Logger;
        _processor = client.CreateProcessor(
            registration.Topic,
            registration.Group,
            registration.ReadOptions(services.GetServices<ProcessorChange>())
        );
        _processor.ProcessMessageAsync += HandleAsync;
        _processor.Probe = ProbeAsync;
        registration.Configure?.Invoke(services, _processor);
        _start.Add(_processor);
    }

    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        await CheckAsync().ConfigureAwait(false);
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

    /// <summary>
    /// Makes a handler once, before any message comes: what is missing fails the start, with the container's words.
    /// </summary>
    private async Task CheckAsync()
    {
        try
        {
            await ProbeAsync().ConfigureAwait(false);
        }
        catch (ProcessorPausedException e)
        {
            throw new InvalidOperationException(e.Message, e.InnerException);
        }
    }

    private Task ProbeAsync() => InScopeAsync(null);

    private Task HandleAsync(ProcessMessageEventArgs args) => InScopeAsync(args);

    /// <summary>
    /// Makes a handler in a scope of its own, and has it handle a message, if there is one. No message is to blame for
    /// what fails before and after.
    /// </summary>
    private async Task InScopeAsync(ProcessMessageEventArgs? args)
    {
        AsyncServiceScope? scope = null;
        ExceptionDispatchInfo? failure = null;
        try
        {
            IMessageHandler handler;
            try
            {
                scope = _scopes.CreateAsyncScope();
                handler = _registration.Make(scope.Value.ServiceProvider);
                if (args is null)
                    (handler as IValueHandler)?.EnsureCanRead();
            }
            catch (Exception e)
            {
                throw NotTheMessages("cannot be made", e);
            }
            if (args is not null)
                await handler.HandleAsync(args).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            failure = ExceptionDispatchInfo.Capture(e);
        }
        try
        {
            if (scope is { } ends)
                await ends.DisposeAsync().ConfigureAwait(false);
        }
        catch (Exception e)
        {
            // The handler may have relied on it: its message is not completed, and not blamed.
            ProcessorPausedException pause = NotTheMessages("has a scope that cannot be disposed", e);
            if (failure is null)
                throw pause;
            ClientLog.HandlerFailed(_logger, e, "DisposeAsync of a handler's scope");
        }
        failure?.Throw();
    }

    private ProcessorPausedException NotTheMessages(string what, Exception cause) =>
        new(
            $"The handler {_registration.Handler.Name} of {_registration.Topic} for {_registration.Group} {what}: "
                + cause.Message,
            (cause as ProcessorPausedException)?.Duration,
            cause
        );
}

using System.Diagnostics;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace LightQ.IntegrationTests.Docs;

/// <summary>Gets hold of the host that a whole program builds and runs, as the hosting libraries tell of it.</summary>
internal sealed class StartedPrograms
    : IObserver<DiagnosticListener>,
        IObserver<KeyValuePair<string, object?>>,
        IDisposable
{
    private readonly TaskCompletionSource<IHost> _started = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly List<IDisposable> _subscriptions = [];
    private readonly Func<IConfiguration, bool> _isIts;

    /// <param name="isIts">Whether a configuration is the program's; other tests build hosts, too.</param>
    public StartedPrograms(Func<IConfiguration, bool> isIts)
    {
        _isIts = isIts;
        Keep(DiagnosticListener.AllListeners.Subscribe(this));
    }

    /// <summary>The host, when it has started.</summary>
    public Task<IHost> Started => _started.Task;

    public void Dispose()
    {
        lock (_subscriptions)
            _subscriptions.ForEach(s => s.Dispose());
    }

    public void OnNext(DiagnosticListener value)
    {
        if (value.Name == "Microsoft.Extensions.Hosting")
            Keep(value.Subscribe(this));
    }

    public void OnNext(KeyValuePair<string, object?> value)
    {
        if (
            value is not { Key: "HostBuilt", Value: IHost { Services: { } services } host }
            || !_isIts(services.GetRequiredService<IConfiguration>())
        )
        {
            return;
        }

        CancellationToken started = services.GetRequiredService<IHostApplicationLifetime>().ApplicationStarted;
        started.Register(() => _started.TrySetResult(host));
    }

    public void OnCompleted() { }

    public void OnError(Exception error) => _started.TrySetException(error);

    private void Keep(IDisposable subscription)
    {
        lock (_subscriptions)
            _subscriptions.Add(subscription);
    }
}

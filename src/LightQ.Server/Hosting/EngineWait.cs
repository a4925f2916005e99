using LightQ.Broker.Replication;
using LightQ.Server.Limits;
using LightQ.Server.Tls;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Hosting;

/// <summary>
/// A start that waits for the engine of its cluster, without end: after a power cut of the site brokers may be up
/// before a majority of the engine's servers is. Meanwhile the web port says that the broker lives and is not ready,
/// and for what it waits.
/// </summary>
internal sealed class EngineWait(ServerLimits limits, ServerTls? tls, ILoggerFactory loggers) : IAsyncDisposable
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    private readonly ILogger _logger = loggers.CreateLogger("LightQ.Server");
    private readonly TimeProvider _time = limits.Options.TimeProvider;
    private WaitingPage? _page;
    private string? _reason;
    private long _began;

    /// <summary>Tries a step of the start until the engine allows it.</summary>
    /// <exception cref="ServerStartException">
    /// The configuration or the directory is wrong: waiting does not help.
    /// </exception>
    public async Task<T> UntilAsync<T>(Func<Task<T>> attempt, CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                return await attempt().ConfigureAwait(false);
            }
            catch (ReplicationException e)
            {
                await SayAsync(e.Message, cancellationToken).ConfigureAwait(false);
            }
            await Task.Delay(Pause, _time, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Frees the web port.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_page is null)
            return;
        await _page.DisposeAsync().ConfigureAwait(false);
        ServerLog.EngineAnswers(_logger, (long)_time.GetElapsedTime(_began).TotalMilliseconds);
    }

    private async Task SayAsync(string reason, CancellationToken cancellationToken)
    {
        if (_page is null)
        {
            _began = _time.GetTimestamp();
            _page = await WaitingPage.StartAsync(limits, tls, loggers, cancellationToken).ConfigureAwait(false);
        }
        _page.Reason = reason;
        if (reason != _reason)
            ServerLog.WaitsForEngine(_logger, reason);
        _reason = reason;
    }
}

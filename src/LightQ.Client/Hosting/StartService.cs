using System.Collections.Concurrent;
using LightQ.Client.Administration;
using LightQ.Client.Connections;
using Microsoft.Extensions.Hosting;

namespace LightQ.Client.Hosting;

/// <summary>
/// Prepares what a host needs from its broker before the host's services start: its topics, then its producers.
/// </summary>
/// <remarks>
/// A client that waits for its broker does not keep the host from starting: the rest is done in the background, and the
/// log reports what it waits for, at once and then from time to time. A failure there is like that of any background
/// service: it is logged, and the host stops unless it is configured otherwise.
/// </remarks>
internal sealed class StartService(
    LightQClient client,
    IEnumerable<TopicRegistration> topics,
    IEnumerable<IHostedProducer> producers
) : BackgroundService, IHostedLifecycleService
{
    private static readonly TimeSpan FirstSilence = TimeSpan.FromSeconds(5),
        LongestSilence = TimeSpan.FromMinutes(5);

    private readonly ConcurrentQueue<LightQProcessor> _processors = new();
    private readonly IHostedProducer[] _producers = [.. producers];
    private readonly TaskCompletionSource _ready = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private LightQException? _unanswered;
    private bool _isBegun;

    /// <summary>Completes when all is there, or fails when it will not be.</summary>
    public Task Ready => _ready.Task;

    /// <summary>Why the broker does not answer; null while it does.</summary>
    public LightQException? Absence => client.Absence ?? Volatile.Read(ref _unanswered);

    /// <summary>The producers of the host.</summary>
    public IReadOnlyList<IHostedProducer> Producers => _producers;

    /// <summary>Why one of the host's processors handles nothing; null while all do, as far as is known.</summary>
    public (LightQProcessor Processor, Exception Reason)? ProcessorFailure
    {
        get
        {
            foreach (LightQProcessor processor in _processors)
            {
                Exception? reason =
                    processor.Failure
                    ?? (
                        processor.IsRunning
                            ? null
                            : new LightQException(ErrorCode.Unavailable, "it has not begun, or was stopped")
                    );
                if (reason is not null)
                    return (processor, reason);
            }
            return null;
        }
    }

    private TimeProvider Time => client.Options.ConnectionTime;

    /// <summary>A processor of the host, whose health is the host's.</summary>
    public void Add(LightQProcessor processor) => _processors.Enqueue(processor);

    /// <summary>Begins what needs the broker while the host starts.</summary>
    /// <returns>
    /// False when the broker is absent and the client waits for it: the work must then begin in the background.
    /// </returns>
    public async Task<bool> TryAsync(Func<CancellationToken, Task> begin, CancellationToken cancellationToken)
    {
        if (!client.Options.WaitForBroker)
        {
            await begin(cancellationToken).ConfigureAwait(false);
            return true;
        }
        await client.AttemptAsync(cancellationToken).ConfigureAwait(false);
        if (client.Absence is not null)
            return false;
        // A broker that was there a moment ago may be gone, or hang.
        using var patience = new CancellationTokenSource(client.Options.ConnectTimeout, Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, patience.Token);
        try
        {
            await begin(either.Token).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return false;
        }
    }

    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        _isBegun = true;
        if (await TryAsync(PrepareAsync, cancellationToken).ConfigureAwait(false))
            _ready.TrySetResult();
        else
            Tell(FirstSilence);
    }

    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        // Whatever runs hosted services without their life cycle comes here first.
        if (!_isBegun)
            await StartingAsync(cancellationToken).ConfigureAwait(false);
        if (!_ready.Task.IsCompleted)
            await base.StartAsync(cancellationToken).ConfigureAwait(false);
    }

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken)
    {
        // At once: what waits for it may be what the host waits for before it stops this service.
        GiveUp(new LightQException(ErrorCode.Closed, "The host stops."));
        return Task.CompletedTask;
    }

    public async Task StoppedAsync(CancellationToken cancellationToken)
    {
        // Last: whatever else stopped may have published until now.
        foreach (IHostedProducer producer in _producers)
            await producer.CloseAsync(cancellationToken).ConfigureAwait(false);
    }

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        long began = Time.GetTimestamp();
        try
        {
            await TellUntilAsync(PrepareAsync(stoppingToken)).ConfigureAwait(false);
            _ready.TrySetResult();
            ClientLog.BrokerFound(client.Logger, client.Options.ToString(), Time.GetElapsedTime(began).TotalSeconds);
        }
        catch (Exception e)
        {
            GiveUp(e);
            throw;
        }
    }

    private async Task TellUntilAsync(Task prepared)
    {
        TimeSpan silence = FirstSilence;
        while (true)
        {
            try
            {
                await prepared.WaitAsync(silence, Time).ConfigureAwait(false);
                return;
            }
            catch (TimeoutException) when (!prepared.IsCompleted)
            {
                silence = silence * 2 < LongestSilence ? silence * 2 : LongestSilence;
                Tell(silence);
            }
        }
    }

    private void Tell(TimeSpan silence)
    {
        LightQException? absence = Absence;
        ClientLog.WaitingForBroker(
            client.Logger,
            client.Options.ToString(),
            absence?.Code ?? ErrorCode.TimedOut,
            absence?.Message ?? "it has not answered yet",
            silence.TotalSeconds
        );
    }

    private async Task PrepareAsync(CancellationToken cancellationToken)
    {
        if (client.Options.WaitForBroker)
            await client.ConnectAsync(cancellationToken).ConfigureAwait(false);
        foreach (TopicRegistration topic in topics)
        {
            await InsistAsync(cancelled => PrepareAsync(topic, cancelled), cancellationToken).ConfigureAwait(false);
        }

        foreach (IHostedProducer producer in _producers)
            await InsistAsync(producer.OpenAsync, cancellationToken).ConfigureAwait(false);
    }

    private async Task PrepareAsync(TopicRegistration topic, CancellationToken cancellationToken)
    {
        EnsureTopicResult result = await client
            .Topics.EnsureAsync(topic.Spec, topic.Mode, cancellationToken)
            .ConfigureAwait(false);
        string differences = string.Join(", ", result.Changes.Select(c => $"{c.Setting} from {c.From} to {c.To}"));
        if (result.Created)
            ClientLog.TopicCreated(client.Logger, topic.Spec.Name);
        else if (differences.Length != 0 && topic.Mode == EnsureMode.Change)
            ClientLog.TopicChanged(client.Logger, topic.Spec.Name, differences);
        else if (differences.Length != 0)
            ClientLog.TopicDiffers(client.Logger, topic.Spec.Name, differences);
    }

    /// <summary>Does the work, again and again while the client waits for an absent broker.</summary>
    private async Task InsistAsync(Func<CancellationToken, Task> act, CancellationToken cancellationToken)
    {
        for (int attempt = 0; ; attempt++)
        {
            try
            {
                await act(cancellationToken).ConfigureAwait(false);
                Volatile.Write(ref _unanswered, null);
                return;
            }
            catch (LightQException e)
                when (e.Code is ErrorCode.Unavailable or ErrorCode.ShuttingDown && client.Options.WaitForBroker)
            {
                Volatile.Write(ref _unanswered, e);
                await Task.Delay(
                        RetryDelay.Reconnect(client.Options, attempt, Random.Shared.NextDouble()),
                        Time,
                        cancellationToken
                    )
                    .ConfigureAwait(false);
            }
        }
    }

    private void GiveUp(Exception reason)
    {
        _ready.TrySetException(reason);
        foreach (IHostedProducer producer in _producers)
            producer.GiveUp(reason);
        // Whoever waits for it hears of it; if nobody does, it is said all the same.
        _ = _ready.Task.Exception;
    }
}

namespace LightQ.Broker.Topics;

/// <summary>Gives topics on this node's disk replicas, each in the background, one run at a time for each.</summary>
internal sealed class ReplicaMaker(ReplicaSource source) : IAsyncDisposable
{
    private readonly Lock _lock = new();
    private readonly Dictionary<Guid, Run> _runs = [];
    private readonly CancellationTokenSource _stop = new();

    /// <summary>Begins to give a topic replicas, or says how far that has come.</summary>
    /// <exception cref="BrokerException">It cannot have them, or the run that was begun has failed.</exception>
    public ReplicationProgress Advance(Topic topic, uint replicas)
    {
        lock (_lock)
        {
            Run? run = _runs.GetValueOrDefault(topic.Id);
            if (run is { Done.IsCompleted: true })
            {
                _runs.Remove(topic.Id);
                run.Done.GetAwaiter().GetResult();
            }
            if (topic.Settings.IsReplicated)
            {
                DemandNumber(topic, replicas);
                return new ReplicationProgress(IsDone: true, 0, 0, HasBegun: false);
            }
            if (run is { Done.IsCompleted: false })
                return run.Progress(hasBegun: false);
            TopicSettings settings = Check(topic, replicas);
            run = new Run(new ReplicaCopy(source, topic, settings, _stop.Token));
            _runs[topic.Id] = run;
            return run.Progress(hasBegun: true);
        }
    }

    /// <summary>Stops what is under way; it comes to nothing.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        Run[] runs;
        lock (_lock)
            runs = [.. _runs.Values];
        foreach (Run run in runs)
            await run.Done.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stop.Dispose();
    }

    private static void DemandNumber(Topic topic, uint replicas)
    {
        if (topic.Settings.Replicas != replicas)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"replicas is {replicas}; the topic '{topic.Name}' has {topic.Settings.Replicas}, which cannot be "
                    + "changed."
            );
        }
    }

    private TopicSettings Check(Topic topic, uint replicas)
    {
        if (replicas is not (3 or 5))
            throw new BrokerException(ErrorCode.InvalidArgument, $"replicas is {replicas}; allowed: 3 or 5.");
        TopicSettings settings = topic.Settings.WithReplicas(replicas);
        settings.DemandCluster(source.Options().Replication is not null);
        topic.ThrowIfIncomplete();
        if (topic.Damage.Any())
        {
            throw new BrokerException(
                ErrorCode.CorruptData,
                $"A journal of the topic '{topic.Name}' is damaged: stop the broker and mend it with 'lightq journal "
                    + "repair' first."
            );
        }
        return settings;
    }

    private sealed class Run(ReplicaCopy copy)
    {
        public Task Done { get; } = Task.Run(copy.RunAsync);

        public ReplicationProgress Progress(bool hasBegun) =>
            new(IsDone: false, copy.CopiedBytes, Math.Max(copy.CopiedBytes, copy.TotalBytes), hasBegun);
    }
}

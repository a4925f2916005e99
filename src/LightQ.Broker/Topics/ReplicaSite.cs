using LightQ.Broker.Cluster;
using LightQ.Broker.Groups;
using LightQ.Broker.Replication;

namespace LightQ.Broker.Topics;

/// <summary>What the keepers of a broker share.</summary>
internal sealed record ReplicaSite
{
    private static readonly TimeSpan LetterPoll = TimeSpan.FromMilliseconds(5);

    /// <summary>The nodes.</summary>
    public required ClusterMembers Members { get; init; }

    /// <summary>Claims partitions.</summary>
    public required PartitionOpener Opener { get; init; }

    /// <summary>Keeps the positions of a partition that is given up.</summary>
    public required GroupRegistry Groups { get; init; }

    /// <summary>Begins to look after a partition that is led.</summary>
    public required Action<Partition> Serve { get; init; }

    /// <summary>Gets reports of partitions that are lost or cannot be opened.</summary>
    public required Func<IStorageEvents?> Events { get; init; }

    /// <summary>The clock.</summary>
    public required TimeProvider Time { get; init; }

    /// <summary>What is wrong with the cluster.</summary>
    public required ClusterConditions Conditions { get; init; }

    /// <summary>Writes a partition's stream anew.</summary>
    public required ReplicaRepair Repair { get; init; }

    /// <summary>Finds out what streams have lost that this node owns.</summary>
    public required StreamWatch Watch { get; init; }

    /// <summary>One handover at a time: each is a short silence, and a snapshot that the engine stores.</summary>
    public SemaphoreSlim Handovers { get; } = new(1, 1);

    /// <summary>So many nodes are asked at once to read what they are to take over.</summary>
    public SemaphoreSlim Preparations { get; } = new(4, 4);

    /// <summary>How long nodes wait for each other.</summary>
    public MemberOptions Options => Members.Options;

    /// <summary>A step of a handover, as long as that may take: when the engine is slow it goes on without.</summary>
    public async Task PatientlyAsync(Func<CancellationToken, Task> step)
    {
        using var patience = new CancellationTokenSource(Options.LongestHandover, Time);
        try
        {
            await step(patience.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // The engine is slow.
        }
    }

    /// <summary>
    /// Groups deliver nothing more, and take no settlements when none of their letters is on its way any more: what a
    /// member gave up was answered, and must not be redelivered.
    /// </summary>
    public async Task EndSettlingAsync(Partition partition, CancellationToken cancellationToken)
    {
        partition.DrainGroups();
        long began = Time.GetTimestamp();
        while (!partition.TryEndSettling(isForced: false) && Time.GetElapsedTime(began) < Options.LongestGap)
            await Task.Delay(LetterPoll, Time, cancellationToken).ConfigureAwait(false);
    }
}

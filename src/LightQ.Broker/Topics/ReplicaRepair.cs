using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Replication;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.Topics;

/// <summary>
/// Writes the stream of a partition anew from this node's copy: the same messages at the same offsets, in an epoch
/// behind all others, and what is known of producers, delays and groups. The node that claims it next goes on there.
/// </summary>
/// <remarks>
/// The copy is read and verified as a whole before anything is deleted. No node claims the new stream before it is
/// whole (<see cref="ControlEntry.Unfinished"/>): a repair that is broken off is made again, from any copy.
/// </remarks>
internal sealed class ReplicaRepair(PartitionOpener opener, ReplicationOptions replication, TimeProvider time)
{
    /// <summary>Writes it, and gives the reason when it has come to nothing.</summary>
    /// <inheritdoc cref="RunAsync"/>
    public async Task<Exception?> TryRunAsync(
        Topic topic,
        uint index,
        uint epoch,
        byte[]? state,
        StreamPositions? positions,
        CancellationToken cancellationToken
    )
    {
        try
        {
            await RunAsync(topic, index, epoch, state, positions, cancellationToken).ConfigureAwait(false);
            return null;
        }
        catch (Exception e)
            when (e is ReplicationException or BrokerException or IOException or UnauthorizedAccessException)
        {
            return e;
        }
    }

    /// <summary>Writes it. This node must not have the partition open.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="index">The partition's number.</param>
    /// <param name="epoch">The epoch of the new log, behind all that were heard of.</param>
    /// <param name="state">
    /// The partition's state, of one that this node has led until now and that has ended in order; else null: it is
    /// made of the copy and of what is left of the stream.
    /// </param>
    /// <param name="positions">The groups, of one that this node has led last; else null.</param>
    /// <param name="cancellationToken">Stops it, and leaves the stream unfinished.</param>
    /// <exception cref="ReplicationException">The engine does not take it, or the copy is damaged.</exception>
    /// <exception cref="BrokerException">The copy cannot be read to its end.</exception>
    /// <exception cref="IOException">The copy cannot be opened.</exception>
    private async Task RunAsync(
        Topic topic,
        uint index,
        uint epoch,
        byte[]? state,
        StreamPositions? positions,
        CancellationToken cancellationToken
    )
    {
        string name = replication.StreamOf(topic.Id, index);
        (Partition partition, ReplicatedLog log) = opener.OpenReplicated(topic, index, 0, static _ => false);
        try
        {
            JournalLog copy = ((ITopicLog)log).Local!;
            long first = copy.StartOffset,
                end = copy.EndOffset;
            state = await RebuildAsync(partition, copy, name, state, positions, cancellationToken)
                .ConfigureAwait(false);
            replication.Events?.OnRemoved(
                $"the stream {name} of the engine",
                $"it has lost something, and is written anew from this node's copy, offsets {first} to {end - 1}"
            );
            await replication.Engine.DeleteStreamAsync(name, cancellationToken).ConfigureAwait(false);
            log.Copy.Marks?.Forget();
            IReplicatedStream stream = await replication
                .Engine.CreateStreamAsync(name, (int)topic.Settings.Replicas, cancellationToken)
                .ConfigureAwait(false);
            var options = new ReplicatedLogOptions
            {
                MaxBatchBytes = partition.MaxBatchBytes,
                MaxEntryBytes = replication.Engine.MaxEntryBytes,
            };
            using var fill = new StreamFill(stream, copy, options, replication.Node, time, epoch);
            await fill.CopyAsync(cancellationToken).ConfigureAwait(false);
            await fill.EndAsync(state, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            partition.Delays?.Stop();
            await log.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <summary>Verifies the copy, and gives the state behind its end.</summary>
    private async Task<byte[]> RebuildAsync(
        Partition partition,
        JournalLog copy,
        string stream,
        byte[]? state,
        StreamPositions? positions,
        CancellationToken cancellationToken
    )
    {
        if (state is not null)
        {
            await JournalWalk.RunAsync(copy, static (in BatchView _) => { }, cancellationToken).ConfigureAwait(false);
            return state;
        }
        PartitionState rebuilt = opener.StateOf(partition);
        long from = 0;
        StreamRemains? left = positions is null
            ? await StreamRemains
                .ReadAsync(replication.Engine.GetStream(stream), cancellationToken)
                .ConfigureAwait(false)
            : null;
        lock (partition.AppendLock)
        {
            // A state behind the copy's end knows of messages that are lost: they would be taken for stored.
            if (left?.Snapshot is { } saved && saved.EndOffset <= copy.EndOffset)
            {
                rebuilt.Load(saved.State);
                from = saved.EndOffset;
            }
            else if (left?.Snapshot is { } later)
            {
                rebuilt.LoadPositions(later.State);
            }
        }
        await JournalWalk
            .RunAsync(
                copy,
                (in BatchView batch) =>
                {
                    if (batch.BaseOffset < from)
                        return;
                    lock (partition.AppendLock)
                        rebuilt.OnReplayed(batch);
                },
                cancellationToken
            )
            .ConfigureAwait(false);
        await rebuilt.LearnAsync(cancellationToken).ConfigureAwait(false);
        lock (partition.AppendLock)
        {
            foreach (ReadOnlyMemory<byte> changed in left?.Positions ?? [])
                rebuilt.OnPositions(changed.Span);
            StreamPositions groups = positions ?? partition.Positions!;
            groups.KeepBelow(copy.EndOffset);
            return PartitionState.Encode(groups, partition.SaveState());
        }
    }
}

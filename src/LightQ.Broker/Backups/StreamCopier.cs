using System.Globalization;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Groups;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Storage;
using LightQ.Storage.Backups;

namespace LightQ.Broker.Backups;

/// <summary>
/// Copies partitions of topics with replicas into a backup: from their streams, which any node can read, whichever node
/// leads them.
/// </summary>
/// <remarks>
/// A stream is read by the rules of a takeover into a journal in a directory of its own, which is then copied like any
/// other and removed. The engine has each message only in its own order, so there is nothing to agree on with the
/// leader, and nothing to lose when that one changes.
/// </remarks>
internal sealed class StreamCopier
{
    private const int Attempts = 3;

    private readonly PartitionOpener _opener;
    private readonly ReplicationOptions _replication;
    private readonly string _directory;

    /// <param name="opener">Opens what it reads into.</param>
    /// <param name="replication">The engine.</param>
    /// <param name="directory">Where journals are for a while.</param>
    public StreamCopier(PartitionOpener opener, ReplicationOptions replication, string directory)
    {
        (_opener, _replication, _directory) = (opener, replication, directory);
        Clean(directory); // A broker that was killed has left it.
    }

    /// <summary>The moments of a topic's partitions.</summary>
    /// <exception cref="ReplicationException">The engine cannot be reached, or a snapshot is damaged.</exception>
    public async Task<IReadOnlyList<StreamMoment>> TakeAsync(Topic topic, CancellationToken cancellationToken)
    {
        var moments = new List<StreamMoment>();
        for (uint i = 0; i < topic.Settings.Partitions; i++)
        {
            IReplicatedStream stream = _replication.Engine.GetStream(_replication.StreamOf(topic.Id, i));
            moments.Add(await StreamMoment.TakeAsync(topic, i, stream, cancellationToken).ConfigureAwait(false));
        }
        return moments;
    }

    /// <summary>Copies a partition as of a moment.</summary>
    /// <param name="moment">The moment.</param>
    /// <param name="directory">Where the files belong in the data directory.</param>
    /// <param name="sink">Where they go.</param>
    /// <param name="buffer">Memory to copy through.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="ReplicationException">The engine cannot be reached, or the stream is damaged.</exception>
    /// <exception cref="IOException">The disk refuses.</exception>
    /// <returns>The positions of its groups.</returns>
    public async Task<IReadOnlyList<StoredPosition>> CopyAsync(
        StreamMoment moment,
        string directory,
        IBackupSink sink,
        Memory<byte> buffer,
        CancellationToken cancellationToken
    )
    {
        string aside = Path.Combine(_directory, Guid.NewGuid().ToString("N"));
        try
        {
            (Partition partition, Journal journal) = await ReadAsync(moment, aside, cancellationToken)
                .ConfigureAwait(false);
            try
            {
                byte[] state;
                lock (partition.AppendLock)
                    state = partition.SaveState();
                await journal
                    .Capture()
                    .TryCopyAsync(directory, sink, buffer, cancellationToken, state)
                    .ConfigureAwait(false);
            }
            finally
            {
                await journal.DeleteAsync().ConfigureAwait(false);
            }
            return PositionsOf(partition.Positions!, (int)moment.Index);
        }
        finally
        {
            Clean(aside);
        }
    }

    /// <summary>
    /// How far letters were redriven is kept beside each partition, and in a topic without replicas beside the first.
    /// </summary>
    public static IEnumerable<StoredPosition> WithoutReplicas(
        IReadOnlyList<StoredPosition> positions,
        int partitions
    ) =>
        positions
            .Where(p => !Redrive.IsPosition(p.Name))
            .Concat(
                positions
                    .Where(p => Redrive.IsPosition(p.Name))
                    .GroupBy(p => p.Name, StringComparer.Ordinal)
                    .Where(all => all.Count() == partitions) // One that lacks it has redriven none.
                    .Select(all => all.MinBy(p => p.Offset)! with { Partition = 0 })
            );

    private static void Clean(string directory)
    {
        if (Directory.Exists(directory))
            Directory.Delete(directory, recursive: true);
    }

    private static IReadOnlyList<StoredPosition> PositionsOf(StreamPositions positions, int partition) =>
        [
            .. positions
                .Names.Select(name =>
                    positions.TryGet(name, out long offset, out ReadOnlyMemory<byte> state)
                        ? new StoredPosition(name, partition, offset, state)
                        : null
                )
                .OfType<StoredPosition>(),
        ];

    private async Task<(Partition, Journal)> ReadAsync(
        StreamMoment moment,
        string aside,
        CancellationToken cancellationToken
    )
    {
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                string path = Path.Combine(aside, attempt.ToString(CultureInfo.InvariantCulture));
                return await ReadOnceAsync(moment, path, cancellationToken).ConfigureAwait(false);
            }
            catch (ReplicationException) when (attempt < Attempts)
            {
                // Its owner may have removed from the front what was about to be read. What is left is retention's.
                moment = await StreamMoment
                    .TakeAsync(moment.Topic, moment.Index, moment.Stream, cancellationToken)
                    .ConfigureAwait(false);
            }
        }
    }

    private async Task<(Partition, Journal)> ReadOnceAsync(
        StreamMoment moment,
        string path,
        CancellationToken cancellationToken
    )
    {
        for (long first = 0; ; )
        {
            (Partition partition, Journal journal, PartitionState state) = _opener.OpenAside(
                moment.Topic,
                moment.Index,
                path,
                first
            );
            var copy = new CommittedCopy(journal, state, partition.AppendLock);
            try
            {
                var target = new StreamTarget(copy, moment.Positions);
                target.Replay.StartAtFront(moment.Saved);
                await target.Replay.ReadAsync(moment.Stream, moment.Last, cancellationToken).ConfigureAwait(false);
                ((IReplayTarget)target).OnEnd(target.Replay.NextOffset);
                await copy.LearnAsync(cancellationToken).ConfigureAwait(false);
                await copy.WrittenAsync(cancellationToken).ConfigureAwait(false);
                return (partition, journal);
            }
            catch (ReplicationException) when (copy.StreamFront > first && journal.EndOffset == first)
            {
                await journal.DeleteAsync().ConfigureAwait(false);
                first = copy.StreamFront.Value;
            }
            catch
            {
                await journal.DeleteAsync().ConfigureAwait(false);
                throw;
            }
        }
    }
}

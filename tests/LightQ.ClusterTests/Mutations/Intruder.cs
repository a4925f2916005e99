using LightQ.Broker.Replication;
using LightQ.ClusterTests.Log;
using LightQ.Protocol.Batches;

namespace LightQ.ClusterTests.Mutations;

/// <summary>
/// Leaves entries in a stream that do not count, as an owner with a pipeline would: behind a claim that came between.
/// </summary>
internal sealed class Intruder(IReplicatedStream stream)
{
    private const ulong Producer = 99;

    private static readonly ReadOnlyMemory<byte> NoProducers = new ProducerMemory().Save();

    private readonly LogReplay _replay = new(new Bystander());
    private ulong _sequence;

    private enum Intrusion
    {
        /// <summary>A batch of the owner before, at the offset that comes next.</summary>
        OldEpoch,

        /// <summary>A batch of this owner, at an offset that does not come next.</summary>
        WrongOffset,

        /// <summary>A snapshot of this owner that knows no producers, at an offset that was.</summary>
        WrongSnapshot,
    }

    /// <summary>Leaves an entry from time to time.</summary>
    public async Task RunAsync(Mutation mutation, Random random, CancellationToken cancellationToken)
    {
        Intrusion[] all = mutation switch
        {
            Mutation.NoEpochCheck => [Intrusion.OldEpoch],
            Mutation.NoOffsetCheck => [Intrusion.WrongOffset],
            Mutation.LastSnapshot => [Intrusion.WrongSnapshot],
            Mutation.None => Enum.GetValues<Intrusion>(),
            _ => [],
        };
        try
        {
            while (all.Length != 0)
            {
                await Task.Delay(random.Next(10, 60), cancellationToken);
                await IntrudeAsync(all[random.Next(all.Length)], cancellationToken);
            }
        }
        catch (OperationCanceledException)
        {
            // The round is over.
        }
        catch (ReplicationException e) when (e.Message.Contains("the claim of epoch", StringComparison.Ordinal))
        {
            // The nodes wrote what no reader reads on behind. The judge says what that comes to.
        }
    }

    private async Task IntrudeAsync(Intrusion intrusion, CancellationToken cancellationToken)
    {
        EntryAppend answer;
        do
        {
            await _replay.FollowAsync(stream, cancellationToken);
            if (_replay.Epoch < 2)
                return; // There is no owner before.
            (EntryKind kind, byte[] payload) = Make(intrusion);
            answer = await stream.AppendAsync(kind, payload, _replay.Sequence, cancellationToken);
        } while (answer.Outcome == AppendOutcome.Refused);
    }

    private (EntryKind, byte[]) Make(Intrusion intrusion)
    {
        if (intrusion == Intrusion.WrongSnapshot)
        {
            var snapshot = new ControlEntry(
                EntryKind.Snapshot,
                _replay.Epoch,
                _replay.NextOffset - 1,
                _replay.AppendTime,
                ConfirmedSnapshot: 0,
                NoProducers
            );
            return (EntryKind.Snapshot, snapshot.Encode());
        }
        byte[] batch = TestBatch.Make(Producer, _sequence++, records: 2);
        bool isOld = intrusion == Intrusion.OldEpoch;
        BatchWriter.Stamp(
            batch,
            new BatchStamp(
                _replay.NextOffset + (isOld ? 0 : 7),
                _replay.AppendTime,
                isOld ? _replay.Epoch - 1 : _replay.Epoch,
                0,
                0
            )
        );
        return (EntryKind.Data, batch);
    }
}

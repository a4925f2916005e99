using LightQ.Broker.Replication;
using LightQ.Protocol.Batches;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>What a reader of a stream takes, passes by, and takes for damage.</summary>
public sealed class LogReplayTests
{
    private readonly LogReplay _replay = new(new Bystander());

    [Theory]
    [InlineData(EntryKind.Claim, 3u)]
    [InlineData(EntryKind.Data, 2u)]
    [InlineData(EntryKind.Positions, 2u)]
    [InlineData(EntryKind.Snapshot, 2u)]
    internal async Task An_epoch_whose_claim_is_not_in_front_is_damage(EntryKind kind, uint epoch)
    {
        Assert.True(await TakeAsync(1, EntryKind.Claim, 1));
        Assert.True(await TakeAsync(2, EntryKind.Data, 1));
        ReplicationException error = await Assert.ThrowsAsync<ReplicationException>(() => TakeAsync(3, kind, epoch));
        Assert.Contains("in front of entry 3 the claim of epoch 2 is missing", error.Message, StringComparison.Ordinal);
        Assert.Equal((1u, 2L), (_replay.Epoch, _replay.NextOffset));
    }

    [Theory]
    [InlineData(EntryKind.Claim, 2u)]
    [InlineData(EntryKind.Data, 1u)]
    [InlineData(EntryKind.Positions, 1u)]
    [InlineData(EntryKind.Snapshot, 1u)]
    internal async Task An_epoch_that_is_over_is_void(EntryKind kind, uint epoch)
    {
        Assert.True(await TakeAsync(1, EntryKind.Claim, 1));
        Assert.True(await TakeAsync(2, EntryKind.Claim, 2));
        Assert.False(await TakeAsync(3, kind, epoch));
        Assert.True(await TakeAsync(4, EntryKind.Data, 2));
        Assert.Equal((2u, 2L, 1L), (_replay.Epoch, _replay.NextOffset, _replay.VoidEntries));
    }

    private async Task<bool> TakeAsync(ulong sequence, EntryKind kind, uint epoch) =>
        await _replay.TakeAsync("orders", new StreamEntry(sequence, kind, Make(kind, epoch)), default);

    private byte[] Make(EntryKind kind, uint epoch)
    {
        if (kind != EntryKind.Data)
            return new ControlEntry(kind, epoch, _replay.NextOffset, 1, 0, ReadOnlyMemory<byte>.Empty).Encode();
        byte[] batch = TestBatch.Make(producer: 1, sequence: 0, records: 2);
        BatchWriter.Stamp(batch, new BatchStamp(_replay.NextOffset, 1, epoch, 0, 0));
        return batch;
    }
}

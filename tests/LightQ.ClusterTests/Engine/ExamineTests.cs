using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using NATS.Client.JetStream.Models;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>What nats-servers say of a stream that an operator has purged, altered or deleted.</summary>
public sealed class ExamineTests(NatsFixture nats) : EngineTest(nats)
{
    [Fact]
    public async Task A_stream_says_what_it_has_lost_and_that_it_is_gone()
    {
        IReplicatedStream stream = await CreateAsync();
        await AppendAsync(stream, 0, "a claim", EntryKind.Claim);
        for (ulong last = 1; last < 5; last++)
            await AppendAsync(stream, last, "data");
        Assert.Equal(
            new StreamReport(true, new StreamBounds(1, 5), 5, Altered: null),
            await stream.ExamineAsync(Cancellation)
        );
        await PurgeAsync(stream, EntryKind.Data, 4);
        Assert.Equal(3ul, (await stream.ExamineAsync(Cancellation)).Entries);
        await Engine.Api.PurgeStreamAsync(stream.Name, new StreamPurgeRequest(), Cancellation);
        await AppendAsync(stream, 5, "more"); // The servers take it, as if nothing had happened.
        StreamReport purged = await stream.ExamineAsync(Cancellation);
        Assert.Equal((new StreamBounds(6, 6), 1ul), (purged.Bounds, purged.Entries));
        await Engine.DeleteStreamAsync(stream.Name, Cancellation);
        Assert.False((await stream.ExamineAsync(Cancellation)).IsThere);
        ReplicationException gone = await Assert.ThrowsAsync<ReplicationException>(() =>
            stream.GetBoundsAsync(Cancellation).AsTask()
        );
        Assert.True(gone.IsLoss);
    }
}

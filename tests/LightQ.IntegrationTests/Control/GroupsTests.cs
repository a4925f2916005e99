using LightQ.Client;
using LightQ.Client.Administration;
using Xunit;

namespace LightQ.IntegrationTests.Control;

public sealed class GroupsTests
{
    private static readonly ConsumeOptions Worker = new()
    {
        Group = "workers",
        SettleMode = SettleMode.Explicit,
        MaxInFlight = 1,
    };

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_group_is_listed_described_and_explained()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await WithJobsAsync(server, 3);
        await using IAsyncEnumerator<Message> jobs = client
            .ConsumeAsync("jobs", Worker, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await jobs.MoveNextAsync());

        GroupInfo listed = Assert.Single(await client.Groups.ListAsync("jobs", Cancelled));
        GroupPartitionInfo partition = Assert.Single(
            (await client.Groups.GetAsync("jobs", "workers", Cancelled)).Partitions
        );
        IReadOnlyList<GroupReason> reasons = await client.Groups.ExplainAsync("jobs", "workers", Cancelled);

        Assert.Equal(
            ("jobs", "workers", SettleMode.Explicit, false, 1, 3L),
            (listed.Topic, listed.Group, listed.SettleMode, listed.IsPaused, listed.MembersCount, listed.Lag)
        );
        Assert.Equal(
            (0L, 1L, 3L, 1L),
            (partition.CommittedOffset, partition.NextOffset, partition.EndOffset, partition.InFlight)
        );
        Assert.Equal((1L, 1), (Assert.Single(partition.Members).InFlight, partition.Members[0].MaxInFlight));
        Assert.Equal([GroupHold.InFlight], reasons.Select(r => r.Hold));
        Assert.NotNull(reasons[0].Until);
    }

    [Fact]
    public async Task A_group_is_paused_reset_and_deleted()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await WithJobsAsync(server, 2);
        await using (
            IAsyncEnumerator<Message> jobs = client
                .ConsumeAsync("jobs", Worker, Cancelled)
                .GetAsyncEnumerator(Cancelled)
        )
        {
            Assert.True(await jobs.MoveNextAsync());
            Assert.Equal(
                ErrorCode.GroupInUse,
                (
                    await Assert.ThrowsAsync<LightQException>(() =>
                        client.Groups.DeleteAsync("jobs", "workers", Cancelled)
                    )
                ).Code
            );
            await client.Groups.PauseAsync("jobs", "workers", Cancelled);
            Assert.Equal(SettleOutcome.Done, await jobs.Current.CompleteAsync(Cancelled));
            Assert.Contains(
                (await client.Groups.ExplainAsync("jobs", "workers", Cancelled)),
                r => r.Hold == GroupHold.Paused
            );
            await client.Groups.ResumeAsync("jobs", "workers", Cancelled);
            Assert.True(await jobs.MoveNextAsync());
            Assert.Equal(1, jobs.Current.Offset);

            Assert.Equal(
                [0L],
                await client.Groups.ResetAsync("jobs", "workers", StartPosition.Earliest, cancellationToken: Cancelled)
            );

            Assert.Equal(SettleOutcome.LockExpired, await jobs.Current.CompleteAsync(Cancelled));
            Assert.True(await jobs.MoveNextAsync());
            Assert.Equal(0, jobs.Current.Offset);
        }
        await Eventually.TrueAsync(
            async () => (await client.Groups.GetAsync("jobs", "workers", Cancelled)).MembersCount == 0,
            TimeSpan.FromSeconds(20),
            () => "the group does not get there"
        );
        await client.Groups.DeleteAsync("jobs", "workers", Cancelled);
        Assert.Empty(await client.Groups.ListAsync(cancellationToken: Cancelled));
        LightQException unknown = await Assert.ThrowsAsync<LightQException>(() =>
            client.Groups.GetAsync("jobs", "workers", Cancelled)
        );
        Assert.Equal(ErrorCode.UnknownGroup, unknown.Code);
    }

    [Fact]
    public async Task What_a_group_gave_up_is_driven_back_to_it_once()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await WithJobsAsync(server, 2);
        await using IAsyncEnumerator<Message> jobs = client
            .ConsumeAsync("jobs", Worker, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await jobs.MoveNextAsync());
        Assert.Equal(SettleOutcome.Done, await jobs.Current.DeadLetterAsync("no", Cancelled));
        Assert.True(await jobs.MoveNextAsync());
        Assert.Equal(SettleOutcome.Done, await jobs.Current.CompleteAsync(Cancelled));
        await Eventually.TrueAsync(
            async () => (await client.Groups.GetAsync("jobs", "workers", Cancelled)).Lag == 0,
            TimeSpan.FromSeconds(20),
            () => "the group does not get there"
        );

        Assert.Equal(new RedriveResult(1, 0), await client.Groups.RedriveAsync("jobs", "workers", Cancelled));

        Assert.True(await jobs.MoveNextAsync());
        Assert.Equal((0L, 1), (jobs.Current.Offset, jobs.Current.DeliveryCount));
        Assert.Equal(SettleOutcome.Done, await jobs.Current.CompleteAsync(Cancelled));
        Assert.Equal(new RedriveResult(0, 0), await client.Groups.RedriveAsync("jobs", "workers", Cancelled));
        Assert.Equal(
            [GroupHold.NothingLeft],
            (await client.Groups.ExplainAsync("jobs", "workers", Cancelled)).Select(r => r.Hold)
        );
    }

    [Fact]
    public async Task A_position_and_a_pause_survive_a_restart()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using (LightQClient client = await WithJobsAsync(server, 2))
        {
            await using IAsyncEnumerator<Message> jobs = client
                .ConsumeAsync("jobs", Worker, Cancelled)
                .GetAsyncEnumerator(Cancelled);
            Assert.True(await jobs.MoveNextAsync());
            Assert.Equal(SettleOutcome.Done, await jobs.Current.CompleteAsync(Cancelled));
            await client.Groups.PauseAsync("jobs", "workers", Cancelled);
        }
        await server.RestartAsync();

        await using var again = new LightQClient(server.ConnectionString);
        GroupInfo group = await again.Groups.GetAsync("jobs", "workers", Cancelled);
        Assert.Equal(
            (true, SettleMode.Explicit, 1L),
            (group.IsPaused, group.SettleMode, Assert.Single(group.Partitions).CommittedOffset)
        );
    }

    private static async Task<LightQClient> WithJobsAsync(TestServer server, int jobs)
    {
        var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancelled);
        for (int i = 0; i < jobs; i++)
            await producer.PublishAsync(BitConverter.GetBytes(i), cancellationToken: Cancelled);
        return client;
    }
}

using LightQ.Broker.Cluster;
using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using Xunit;

namespace LightQ.ClusterTests.Handovers;

/// <summary>A leader that does not hear its own heartbeats: others may lead its partitions by now.</summary>
public sealed class UnheardTests
{
    private const int Messages = 50;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(SettleMode.Explicit)]
    [InlineData(SettleMode.Automatic)]
    public async Task It_delivers_nothing_to_groups_until_it_hears_itself_again(SettleMode mode)
    {
        var engine = new MemoryEngine();
        await using ServerCluster cluster = await ServerCluster.StartAsync(new MemberOptions(), () => new(engine), "a");
        await cluster.CreateAsync("orders", partitions: 1);
        Topic topic = cluster["a"].Broker.GetTopic("orders");
        await using LightQClient client = cluster.Connect();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        int broadcast = 0,
            shared = 0;
        Task[] consuming =
        [
            ConsumeAsync(
                new ConsumeOptions { Start = StartPosition.Earliest },
                () => Interlocked.Increment(ref broadcast)
            ),
            ConsumeAsync(
                new ConsumeOptions
                {
                    Start = StartPosition.Earliest,
                    Group = "billing",
                    SettleMode = mode,
                },
                () => Interlocked.Increment(ref shared)
            ),
        ];
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        await PublishAsync(1);
        await GotAsync(() => broadcast == 1 && shared == 1);

        engine.IsMute = true;
        await Eventually.TrueAsync(
            () => topic.Partitions[0].IsUnsure,
            Patience,
            () => "It has not found out that it does not hear itself."
        );
        // The stream can be reached, and no other node claims: only the groups stand still.
        await PublishAsync(Messages);
        await GotAsync(() => broadcast == 1 + Messages);
        Group group = Assert.Single(topic.Partitions[0].Groups());
        Assert.Equal((1, 1), (Volatile.Read(ref shared), group.NextOffset));

        engine.IsMute = false;
        await GotAsync(() => shared == 1 + Messages);
        await stop.CancelAsync();
        await Task.WhenAll(consuming);

        async Task ConsumeAsync(ConsumeOptions options, Action got)
        {
            try
            {
                await foreach (Message message in client.ConsumeAsync("orders", options, stop.Token))
                {
                    got();
                    if (options.SettleMode == SettleMode.Explicit)
                        message.QueueCompletion();
                }
            }
            catch (OperationCanceledException) when (stop.IsCancellationRequested)
            {
                // It was told to.
            }
        }

        async Task PublishAsync(int count)
        {
            for (int i = 0; i < count; i++)
                await producer.PublishAsync("body"u8.ToArray(), cancellationToken: Cancelled);
        }

        Task GotAsync(Func<bool> all) =>
            Eventually.TrueAsync(all, Patience, () => $"broadcast {broadcast}, group {shared}");
    }
}

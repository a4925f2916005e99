using LightQ.Client;
using LightQ.Testing;
using Xunit;

namespace LightQ.IntegrationTests.Testing;

public sealed class LightQTestBrokerTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private static readonly ConsumeOptions Worker = new() { Group = "workers", SettleMode = SettleMode.Explicit };

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_delayed_message_comes_when_the_clock_is_moved_and_no_connection_is_lost_by_it()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Stop);
        await using LightQClient client = broker.CreateClient();
        await client.Topics.CreateAsync(new TopicSpec("reminders") { Kind = TopicKind.Durable }, Stop);
        await using Producer producer = await client.CreateProducerAsync("reminders", cancellationToken: Stop);
        var subscribed = new TaskCompletionSource();
        await using MessageConsumer consumer = client.CreateConsumer(
            "reminders",
            Worker with
            {
                OnSubscribed = _ => subscribed.TrySetResult(),
            }
        );
        Assert.Empty(await consumer.FetchAsync(1, TimeSpan.FromMilliseconds(50), cancellationToken: Stop));
        await subscribed.Task.WaitAsync(Patience, Stop);
        await producer.PublishAsync(
            "tomorrow"u8.ToArray(),
            new PublishOptions { Delay = TimeSpan.FromDays(1) },
            cancellationToken: Stop
        );
        int connections = broker.Server.ConnectionCount;
        Assert.Empty(await consumer.FetchAsync(1, TimeSpan.FromMilliseconds(50), cancellationToken: Stop));

        broker.Time.Advance(TimeSpan.FromDays(1));

        Assert.Equal(
            "tomorrow",
            Assert.Single(await consumer.FetchAsync(1, Patience, cancellationToken: Stop)).GetText()
        );
        Assert.Equal(connections, broker.Server.ConnectionCount);
    }

    [Fact]
    public async Task After_a_restart_clients_go_on_with_what_was_stored()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Stop);
        await using LightQClient client = broker.CreateClient();
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Stop);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Stop);
        await producer.PublishAsync("before"u8, cancellationToken: Stop);
        string address = broker.ConnectionString;
        bool wasBetween = false;

        await broker.RestartAsync(() => wasBetween = true);

        Assert.Equal((true, address), (wasBetween, broker.ConnectionString));
        await producer.PublishAsync("after"u8, cancellationToken: Stop);
        await using MessageConsumer consumer = client.CreateConsumer(
            "orders",
            new() { Start = StartPosition.Earliest }
        );
        Assert.Equal(
            ["before", "after"],
            (await consumer.FetchAsync(2, Patience, Patience, Stop)).Select(m => m.GetText())
        );
    }

    [Fact]
    public async Task What_a_member_held_comes_again_when_its_connection_is_cut()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Stop);
        await using LightQClient client = broker.CreateClient();
        await client.Topics.CreateAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, RetryDelay = TimeSpan.Zero },
            Stop
        );
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Stop);
        await producer.PublishAsync("job"u8, cancellationToken: Stop);
        await using MessageConsumer consumer = client.CreateConsumer("orders", Worker);
        Assert.Equal(1, Assert.Single(await consumer.FetchAsync(1, Patience, cancellationToken: Stop)).DeliveryCount);

        broker.DropConnections();

        Assert.Equal(2, Assert.Single(await consumer.FetchAsync(1, Patience, cancellationToken: Stop)).DeliveryCount);
    }

    [Fact]
    public async Task Messages_whose_lock_went_with_their_connection_are_not_handed_out()
    {
        const int Jobs = 10;
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Stop);
        await using LightQClient client = broker.CreateClient();
        await client.Topics.CreateAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, RetryDelay = TimeSpan.Zero },
            Stop
        );
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Stop);
        for (int i = 0; i < Jobs; i++)
            await producer.PublishAsync("job"u8, cancellationToken: Stop);
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("orders", Worker, Stop)
            .GetAsyncEnumerator(Stop);
        Assert.True(await messages.MoveNextAsync());
        Message first = messages.Current;
        Assert.Equal(1, first.DeliveryCount);

        broker.DropConnections();
        await Eventually.TrueAsync(
            () => !first.DeliveryLock.IsHeld,
            Patience,
            () => "the consumer has not noticed that its connection is cut"
        );

        var again = new List<int>();
        while (again.Count < Jobs && await messages.MoveNextAsync())
        {
            again.Add(messages.Current.DeliveryCount);
            Assert.Equal(SettleOutcome.Done, await messages.Current.CompleteAsync(Stop));
        }
        Assert.Equal([2, .. Enumerable.Repeat(1, Jobs - 1)], again); // Only the first was in hand.
    }

    [Fact]
    public async Task Its_directory_goes_with_it_and_a_given_one_stays()
    {
        using var directory = new TemporaryDirectory();
        LightQTestBroker own = await LightQTestBroker.StartAsync(cancellationToken: Stop);
        LightQTestBroker given = await LightQTestBroker.StartAsync(
            o => o with { DataDirectory = directory.Path },
            cancellationToken: Stop
        );
        await own.DisposeAsync();
        await given.DisposeAsync();
        Assert.False(Directory.Exists(own.Server.DataDirectory));
        Assert.True(Directory.Exists(directory.Path));
    }

    [Fact]
    public async Task Another_clock_is_refused() =>
        await Assert.ThrowsAsync<ArgumentException>(() =>
            LightQTestBroker.StartAsync(o => o with { TimeProvider = TimeProvider.System }, cancellationToken: Stop)
        );
}

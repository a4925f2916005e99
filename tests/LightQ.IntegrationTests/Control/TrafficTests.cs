using LightQ.Client;
using LightQ.Protocol.Control;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Control;

/// <summary>What the control plane and the metrics tell of streams that the data plane serves.</summary>
public sealed class TrafficTests
{
    private const int Messages = 100;

    [Fact]
    public async Task Streams_and_messages_are_counted()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        await using var client = new LightQClient(server.ConnectionString);
        await using IAsyncEnumerator<Message> messages = await SubscribeAsync(client);
        await using Producer producer = await client.CreateProducerAsync(
            "orders",
            cancellationToken: TestContext.Current.CancellationToken
        );
        for (int i = 0; i < Messages; i++)
            await producer.PublishAsync(new byte[10], cancellationToken: TestContext.Current.CancellationToken);
        for (int i = 1; i < Messages; i++)
            Assert.True(await messages.MoveNextAsync());

        GetTopicStatsResponse topic = await server.Control.CallAsync<GetTopicStatsRequest, GetTopicStatsResponse>(
            "GetTopicStats",
            new() { Topic = "orders" }
        );
        Assert.Equal((ulong)Messages, topic.Stats.MessagesReceived - 1);
        Assert.Equal(Messages + 1, topic.Stats.EndOffset);
        Assert.Equal((1u, 1u), (topic.Stats.PublishersCount, topic.Stats.SubscribersCount));
        Assert.True(topic.Stats.TotalBytesWritten >= Messages * 10);
        Assert.True(topic.Stats.StoredBytes > 0);

        GetBrokerStatsResponse broker = await server.Control.CallAsync<GetBrokerStatsRequest, GetBrokerStatsResponse>(
            "GetBrokerStats",
            new()
        );
        Assert.Equal((1u, 1u, 1u), (broker.ConnectionsCount, broker.PublishersCount, broker.SubscribersCount));

        ListConnectionsResponse connections = await server.Control.CallAsync<
            ListConnectionsRequest,
            ListConnectionsResponse
        >("ListConnections", new());
        Connection connection = Assert.Single(connections.Connections);
        Assert.StartsWith("127.0.0.1:", connection.RemoteAddress, StringComparison.Ordinal);
        Assert.Equal((1u, 1u), (connection.PublishersCount, connection.SubscribersCount));

        ListSubscriptionsResponse subscriptions = await server.Control.CallAsync<
            ListSubscriptionsRequest,
            ListSubscriptionsResponse
        >("ListSubscriptions", new());
        Subscription subscription = Assert.Single(subscriptions.Subscriptions);
        Assert.Equal(
            ("orders", connection.Id, ""),
            (subscription.Topic, subscription.ConnectionId, subscription.Group)
        );

        string metrics = await server.Web.GetStringAsync("/metrics", TestContext.Current.CancellationToken);
        Assert.Contains(
            $"lightq_topic_messages_received_total{{topic=\"orders\"}} {Messages + 1}\n",
            metrics,
            StringComparison.Ordinal
        );
        Assert.Contains("lightq_connections 1\n", metrics, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_stop_and_start_keep_every_acknowledged_message_of_a_durable_topic()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await using (var client = new LightQClient(server.ConnectionString))
        {
            Producer producer = await client.CreateProducerAsync(
                "orders",
                cancellationToken: TestContext.Current.CancellationToken
            );
            for (int i = 0; i < Messages; i++)
            {
                Assert.Equal(
                    i,
                    (
                        await producer.PublishAsync(
                            BitConverter.GetBytes(i),
                            cancellationToken: TestContext.Current.CancellationToken
                        )
                    ).Offset
                );
            }

            await producer.DisposeAsync();
        }
        await server.RestartAsync();
        await using var reader = new LightQClient(server.ConnectionString);
        int next = 0;
        await foreach (
            Message message in reader.ConsumeAsync(
                "orders",
                new() { Start = StartPosition.Earliest },
                TestContext.Current.CancellationToken
            )
        )
        {
            Assert.Equal(next, message.Offset);
            Assert.Equal(next, BitConverter.ToInt32(message.BodySpan));
            if (++next == Messages)
                break;
        }
    }

    [Fact]
    public async Task A_stop_with_open_streams_ends_in_time()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await using IAsyncEnumerator<Message> messages = await SubscribeAsync(client);
        await server.Server.StopAsync().WaitAsync(TimeSpan.FromSeconds(10), TestContext.Current.CancellationToken);
    }

    /// <summary>Opens a subscription and proves it with one message.</summary>
    private static async Task<IAsyncEnumerator<Message>> SubscribeAsync(LightQClient client)
    {
        IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("orders", new() { Start = StartPosition.Earliest })
            .GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Task<bool> first = messages.MoveNextAsync().AsTask();
        await using (
            Producer producer = await client.CreateProducerAsync(
                "orders",
                cancellationToken: TestContext.Current.CancellationToken
            )
        )
        {
            await producer.PublishAsync("first"u8, cancellationToken: TestContext.Current.CancellationToken);
        }

        Assert.True(await first);
        return messages;
    }
}

using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Replication.Nats;
using Xunit;

namespace LightQ.ClusterTests.Catalog;

/// <summary>Two brokers with one catalog on nats-servers.</summary>
[Collection(NatsTests.Name)]
public sealed class NatsCatalogTests(NatsFixture nats)
{
    [Fact]
    public async Task What_one_broker_makes_and_deletes_the_other_sees()
    {
        await using JetStreamEngine engineA = await nats.ConnectAsync();
        await using JetStreamEngine engineB = await nats.ConnectAsync();
        await using BrokerPair pair = await BrokerPair.StartAsync(engineA, engineB, $"c{Guid.NewGuid():N}");
        Topic orders = pair.A.CreateTopic("orders", BrokerPair.Durable);
        pair.B.CreateTopic("bills", BrokerPair.Durable);
        Assert.True(pair.B.TryGetTopic("orders", out Topic? known)); // What it appends must follow what it knows.
        Assert.Equal(orders.Id, known.Id);
        pair.A.Users.Create("alice", "hash");
        await pair.OnBAsync(b => b.Users.Table.Users.ContainsKey("alice"), "alice");
        pair.B.Users.Grant("alice", Grant.Create(Right.Admin, ""));
        await Task.WhenAll(
            Task.Run(() => GrantAll(pair.A.Users, "a"), TestContext.Current.CancellationToken),
            Task.Run(() => GrantAll(pair.B.Users, "b"), TestContext.Current.CancellationToken)
        );
        Assert.Equal(41, Math.Max(pair.A.Users.Get("alice").Grants.Count, pair.B.Users.Get("alice").Grants.Count));

        await pair.B.DeleteTopicAsync("orders", TestContext.Current.CancellationToken);
        await orders.Deleted.WaitAsync(BrokerPair.Patience, TestContext.Current.CancellationToken);
        await pair.RestartBAsync();
        Assert.Equal(["bills"], pair.B.Topics.Select(t => t.Name));
        Assert.Null(pair.B.GetTopic("bills").Partitions[0].Refusal);
        Assert.Equal(41, pair.B.Users.Get("alice").Grants.Count);
        await Eventually.TrueAsync(
            () => pair.A.Topics.Select(t => t.Name).SequenceEqual(["bills"]),
            BrokerPair.Patience,
            () => string.Join(' ', pair.A.Topics.Select(t => t.Name))
        );
    }

    private static void GrantAll(UserStore users, string node)
    {
        for (int i = 0; i < 20; i++)
            users.Grant("alice", Grant.Create(Right.Publish, $"{node}.{i}"));
    }
}

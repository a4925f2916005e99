using System.Text;
using LightQ.Broker;
using LightQ.Broker.Catalog;
using LightQ.Broker.Topics;
using LightQ.Client;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker;

/// <summary>What a topic's settings say of replicas.</summary>
public sealed class ReplicasTests
{
    [Theory]
    [InlineData(3, Durability.Default, Durability.Default)]
    [InlineData(5, Durability.Memory, Durability.Written)]
    [InlineData(3, Durability.Fsync, Durability.Fsync)]
    [InlineData(3, Durability.Replicated, Durability.Replicated)]
    public void With_replicas_there_is_one_level(uint replicas, Durability ack, Durability read)
    {
        TopicSettings settings = new TopicSettings
        {
            Kind = TopicKind.Durable,
            Replicas = replicas,
            AckLevel = ack,
            ReadLevel = read,
        }.Complete();
        Assert.Equal(
            (replicas, Durability.Replicated, Durability.Replicated),
            (settings.Replicas, settings.AckLevel, settings.ReadLevel)
        );
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void Without_replicas_the_levels_are_as_ever(uint replicas)
    {
        TopicSettings settings = new TopicSettings { Kind = TopicKind.Durable, Replicas = replicas }.Complete();
        Assert.Equal(new TopicSettings { Kind = TopicKind.Durable }.Complete(), settings);
        Assert.Equal(
            (0u, Durability.Fsync, Durability.Fsync),
            (settings.Replicas, settings.AckLevel, settings.ReadLevel)
        );
        Assert.Equal(
            0u,
            new TopicSettings { Replicas = replicas }
                .Complete()
                .Replicas
        );
    }

    [Theory]
    [InlineData(TopicKind.Durable, 2, "replicas is 2; allowed: 0 or 1 (none), 3 or 5.")]
    [InlineData(TopicKind.Durable, 7, "replicas is 7; allowed: 0 or 1 (none), 3 or 5.")]
    [InlineData(TopicKind.Transient, 3, "replicas is 3; allowed: 0 or 1 (none), for a transient topic.")]
    public void Other_numbers_and_transient_topics_are_refused(TopicKind kind, uint replicas, string message) =>
        Refuses(message, new TopicSettings { Kind = kind, Replicas = replicas });

    [Theory]
    [InlineData(
        Durability.Replicated,
        Durability.Default,
        "ack_level is Replicated; allowed: memory, written or fsync, for a topic without replicas."
    )]
    [InlineData(
        Durability.Default,
        Durability.Replicated,
        "read_level is Replicated; allowed: written or fsync, for a durable topic."
    )]
    public void The_level_replicated_is_refused_without_replicas(Durability ack, Durability read, string message) =>
        Refuses(
            message,
            new TopicSettings
            {
                Kind = TopicKind.Durable,
                AckLevel = ack,
                ReadLevel = read,
            }
        );

    [Fact]
    public void The_catalog_keeps_them()
    {
        TopicSettings settings = new TopicSettings { Kind = TopicKind.Durable, Replicas = 3 }.Complete();
        byte[] stored = new CatalogRecord
        {
            Topic = new CatalogRecord.TopicEntry("orders", Guid.NewGuid(), DateTimeOffset.UnixEpoch, settings),
        }.Write();
        Assert.Equal(settings, CatalogRecord.Read(stored).Topic!.Settings);
    }

    [Fact]
    public void A_record_of_before_there_were_replicas_has_none()
    {
        TopicSettings settings = new TopicSettings { Kind = TopicKind.Durable }.Complete();
        string stored = Encoding.UTF8.GetString(
            new CatalogRecord
            {
                Topic = new CatalogRecord.TopicEntry("orders", Guid.NewGuid(), DateTimeOffset.UnixEpoch, settings),
            }.Write()
        );
        string before = stored.Replace("\"Replicas\":0,", "", StringComparison.Ordinal);
        Assert.NotEqual(stored, before);
        Assert.Equal(settings, CatalogRecord.Read(Encoding.UTF8.GetBytes(before)).Topic!.Settings);
    }

    [Fact]
    public async Task A_broker_without_a_cluster_creates_no_topic_with_replicas()
    {
        string directory = Directory.CreateTempSubdirectory("lightq-replicas-").FullName;
        try
        {
            await using LightQBroker broker = await LightQBroker.OpenAsync(
                directory,
                new BrokerOptions(),
                TimeProvider.System
            );
            BrokerException error = Assert.Throws<BrokerException>(() =>
                broker.CreateTopic("orders", new TopicSettings { Kind = TopicKind.Durable, Replicas = 3 })
            );
            Assert.Equal(ErrorCode.NotSupported, error.Code);
            Assert.Equal("replicas 3 needs a cluster: set Cluster:Engine, see docs/operate/cluster.md.", error.Message);
            Assert.Empty(broker.Topics);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static void Refuses(string message, TopicSettings settings)
    {
        BrokerException error = Assert.Throws<BrokerException>(settings.Complete);
        Assert.Equal((ErrorCode.InvalidArgument, message), (error.Code, error.Message));
    }
}

using LightQ.Broker;
using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.IntegrationTests;

namespace LightQ.ClusterTests.Members;

/// <summary>A broker of a cluster, and the topic that all of its brokers know.</summary>
internal sealed class TestNode : IAsyncDisposable
{
    private readonly TemporaryDirectory _directory;
    private readonly LightQBroker _broker;

    private TestNode(TemporaryDirectory directory, LightQBroker broker, Topic topic, RecordedEvents events)
    {
        (_directory, _broker, Topic, Events) = (directory, broker, topic, events);
        Members = broker.Replicas.Members!;
    }

    public Topic Topic { get; }

    public RecordedEvents Events { get; }

    public ClusterMembers Members { get; }

    public Replicas Replicas => _broker.Replicas;

    /// <summary>The partitions that it serves.</summary>
    public IEnumerable<uint> Serves => Topic.Partitions.Where(p => p.Refusal is null).Select(p => p.Index);

    public static async Task<TestNode> StartAsync(
        string name,
        IReplicationEngine engine,
        Guid topicId,
        TopicSettings settings,
        MemberOptions members
    )
    {
        var directory = new TemporaryDirectory();
        var events = new RecordedEvents();
        LightQBroker broker = await LightQBroker.OpenAsync(
            directory.Path,
            new BrokerOptions
            {
                Replication = new ReplicationOptions
                {
                    Engine = engine,
                    Cluster = "shop",
                    Node = name,
                    DataAddress = $"{name}:5700",
                    ControlAddress = $"{name}:5701",
                    Version = "1.2.3",
                    Members = members,
                    Events = events,
                },
            },
            TimeProvider.System
        );
        // As the catalog would make it known.
        var topic = new Topic("orders", topicId, DateTimeOffset.UtcNow, settings);
        broker.Replicas.Begin(topic);
        return new TestNode(directory, broker, topic, events);
    }

    /// <summary>Stops in good order.</summary>
    public async ValueTask DisposeAsync()
    {
        await Replicas.DisposeAsync();
        // Those of topics that are in its catalog the broker closes.
        foreach (Partition partition in Topic.Partitions)
            await partition.Log.DisposeAsync();
        await _broker.DisposeAsync();
        _directory.Dispose();
    }
}

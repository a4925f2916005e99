using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// A broker that is killed and started again, with a durable topic <c>t</c> whose segments hold a few messages, so that
/// retention soon has something to remove.
/// </summary>
internal sealed class RetainedTopic : IAsyncDisposable
{
    public const int MessageBytes = 1024,
        SegmentBytes = 4 * (MessageBytes + ProtocolLimits.BatchOverheadBytes);
    private readonly TemporaryDirectory _directory = new();

    private RetainedTopic()
    {
        Broker = new FaultBroker(_directory.Path);
        Client = Broker.Connect();
    }

    public FaultBroker Broker { get; }

    public LightQClient Client { get; }

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    /// <summary>Starts the broker and makes the topic.</summary>
    /// <param name="retain">Says what the topic keeps.</param>
    public static async Task<RetainedTopic> StartAsync(Func<TopicSpec, TopicSpec> retain)
    {
        var topic = new RetainedTopic();
        await topic.Broker.StartAsync();
        TopicSpec spec = retain(new TopicSpec("t") { Kind = TopicKind.Durable });
        await topic.Client.Topics.CreateAsync(
            spec with
            {
                MaxMessageBytes = MessageBytes,
                SegmentBytes = SegmentBytes,
            },
            Cancelled
        );
        return topic;
    }

    public Task<TopicStats> StatsAsync() => Client.Stats.GetTopicAsync("t", Cancelled);

    public async ValueTask DisposeAsync()
    {
        await Client.DisposeAsync();
        await Broker.DisposeAsync();
        _directory.Dispose();
    }
}

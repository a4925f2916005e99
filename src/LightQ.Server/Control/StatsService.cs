using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using LightQ.Server.Telemetry;
using LightQ.Storage;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Stats</c>.</summary>
internal sealed class StatsService(
    LightQBroker broker,
    BrokerStatsReader brokerStats,
    ClientDirectory clients,
    AccessControl access,
    TimeProvider time
) : Protocol.Control.Stats.StatsBase
{
    private static readonly TimeSpan DefaultInterval = TimeSpan.FromSeconds(1),
        ShortestInterval = TimeSpan.FromMilliseconds(100),
        LongestInterval = TimeSpan.FromHours(1),
        DefaultBrokerInterval = TimeSpan.FromSeconds(2),
        ShortestBrokerInterval = TimeSpan.FromMilliseconds(500);

    private const int MostTopics = 1000;
    private const string ListMethod = "/lightq.control.v1.Stats/ListTopicStats";

    /// <summary>Has other nodes tell of what they lead; null where there is no cluster.</summary>
    public INodes? Nodes { get; init; }

    public override Task<GetTopicStatsResponse> GetTopicStats(
        GetTopicStatsRequest request,
        ServerCallContext context
    ) =>
        Task.FromResult(
            new GetTopicStatsResponse
            {
                Stats = ReaderOf(
                        broker.GetTopic(request.Topic),
                        request.HasPartition ? request.Partition : null,
                        CallPrincipal.Of(context)
                    )
                    .Read(),
            }
        );

    public override Task<ListTopicStatsResponse> ListTopicStats(
        ListTopicStatsRequest request,
        ServerCallContext context
    )
    {
        Principal principal = CallPrincipal.Of(context);
        CheckNamed(request);
        IEnumerable<Topic> topics = request.Topics.Count == 0 ? Visible(context) : Named(request, principal);
        (Topic[] page, string next) = TopicPage.Take(topics, request.PageSize, request.PageToken);
        Dictionary<Topic, TopicBacklog> backlogs = TopicBacklog.Of(
            broker,
            page,
            topic => access.Sees(principal, topic)
        );
        return Task.FromResult(
            new ListTopicStatsResponse
            {
                Stats = { page.Select(t => ReaderOf(t, null, principal).Read(backlogs[t])) },
                NextPageToken = next,
            }
        );
    }

    public override async Task WatchTopicStats(
        WatchTopicStatsRequest request,
        IServerStreamWriter<WatchTopicStatsResponse> responses,
        ServerCallContext context
    )
    {
        TimeSpan interval = IntervalOf(request.Interval);
        Topic topic = broker.GetTopic(request.Topic);
        Principal principal = CallPrincipal.Of(context);
        TopicStatsReader reader = ReaderOf(topic, request.HasPartition ? request.Partition : null, principal);
        ClusterStatsReader? everywhere = Nodes is { } nodes
            ? new ClusterStatsReader(nodes, GetTopicStats, request, context, time)
            : null;
        using var ticks = new PeriodicTimer(interval, time);
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(context.CancellationToken);
        Task<bool> tick;
        do
        {
            TopicStats stats = everywhere is null ? reader.Read() : await everywhere.ReadAsync().ConfigureAwait(false);
            await responses.WriteAsync(new WatchTopicStatsResponse { Stats = stats }).ConfigureAwait(false);
            tick = ticks.WaitForNextTickAsync(ended.Token).AsTask();
            await RightfulAsync(principal, topic, tick).ConfigureAwait(false);
        } while (tick.IsCompleted && await tick.ConfigureAwait(false));
        await ended.CancelAsync().ConfigureAwait(false);
        throw new BrokerException(ErrorCode.TopicDeleted, $"The topic '{topic.Name}' was deleted.");
    }

    /// <summary>
    /// Returns when the tick has come or the topic is gone; ends as soon as the caller may not see the topic any more.
    /// </summary>
    private async Task RightfulAsync(Principal principal, Topic topic, Task tick)
    {
        while (true)
        {
            Task changed = access.Changed;
            access.DemandSight(principal, topic.Name);
            if (await Task.WhenAny(tick, topic.Deleted, changed).ConfigureAwait(false) != changed)
                return;
        }
    }

    public override Task<GetBrokerStatsResponse> GetBrokerStats(
        GetBrokerStatsRequest request,
        ServerCallContext context
    )
    {
        SyncDurations? none = null;
        return Task.FromResult(brokerStats.Read(CallPrincipal.Of(context), ref none));
    }

    public override async Task WatchBrokerStats(
        WatchBrokerStatsRequest request,
        IServerStreamWriter<WatchBrokerStatsResponse> responses,
        ServerCallContext context
    )
    {
        TimeSpan interval = IsDefault(request.Interval)
            ? DefaultBrokerInterval
            : RequestTimes.Read(request.Interval, "interval", ShortestBrokerInterval, LongestInterval, "500 ms to 1 h");
        Principal principal = CallPrincipal.Of(context);
        var topics = new ListTopicStatsRequest { Topics = { request.Topics }, PageSize = MostTopics };
        CheckNamed(topics);
        SyncDurations? syncs = null;
        using var ticks = new PeriodicTimer(interval, time);
        Task<bool> tick;
        do
        {
            var response = new WatchBrokerStatsResponse { Broker = brokerStats.Read(principal, ref syncs) };
            if (topics.Topics.Count != 0)
                response.Topics.Add((await ListEverywhereAsync(topics, context).ConfigureAwait(false)).Stats);
            await responses.WriteAsync(response).ConfigureAwait(false);
            tick = ticks.WaitForNextTickAsync(context.CancellationToken).AsTask();
            await CurrentAsync(principal, tick).ConfigureAwait(false);
        } while (await tick.ConfigureAwait(false));
    }

    /// <summary>Returns when the tick has come; ends as soon as the caller's login is no longer valid.</summary>
    private async Task CurrentAsync(Principal principal, Task tick)
    {
        while (true)
        {
            Task changed = access.Changed;
            access.DemandCurrent(principal);
            if (await Task.WhenAny(tick, changed).ConfigureAwait(false) == tick)
                return;
        }
    }

    public override Task<ListConnectionsResponse> ListConnections(
        ListConnectionsRequest request,
        ServerCallContext context
    ) => Task.FromResult(new ListConnectionsResponse { Connections = { clients.All() } });

    public override Task<ListSubscriptionsResponse> ListSubscriptions(
        ListSubscriptionsRequest request,
        ServerCallContext context
    )
    {
        IEnumerable<Topic> topics = request.Topic.Length == 0 ? Visible(context) : [broker.GetTopic(request.Topic)];
        IEnumerable<Subscription> subscriptions = topics
            .SelectMany(t => t.Partitions)
            .SelectMany(p => p.Subscriptions)
            .OrderBy(s => s.Owner.ConnectionId)
            .ThenBy(s => s.Id)
            .Select(s => new Subscription
            {
                ConnectionId = s.Owner.ConnectionId,
                Stream = s.Id,
                Topic = s.Partition.Topic.Name,
                Partition = s.Partition.Index,
                Group = s.GroupName,
                NextOffset = s.NextOffset,
                Lag = (ulong)Math.Max(0, s.Partition.Log.EndOffset - s.NextOffset),
                CreditBytes = s.Credit,
                SlowConsumerPolicy = (SlowConsumerPolicy)s.SlowPolicy,
                Drops = (ulong)s.Drops,
                BacklogBytes = (ulong)s.KeptBytes,
            });
        return Task.FromResult(new ListSubscriptionsResponse { Subscriptions = { subscriptions } });
    }

    private static void CheckNamed(ListTopicStatsRequest request)
    {
        if (request.Topics.Count > MostTopics)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"topics has {request.Topics.Count} names; allowed: {MostTopics} at most."
            );
        }
    }

    private IEnumerable<Topic> Named(ListTopicStatsRequest request, Principal principal)
    {
        foreach (string name in request.Topics.Distinct())
        {
            if (access.Sees(principal, name) && broker.TryGetTopic(name, out Topic? topic))
                yield return topic;
        }
    }

    /// <summary>The topics' figures, in a cluster of all nodes.</summary>
    private Task<ListTopicStatsResponse> ListEverywhereAsync(
        ListTopicStatsRequest request,
        ServerCallContext context
    ) =>
        Nodes?.Find<ListTopicStatsRequest, ListTopicStatsResponse>(ListMethod) is { } forward
            ? forward.ServeAsync(request, context, ListTopicStats)
            : ListTopicStats(request, context);

    private IEnumerable<Topic> Visible(ServerCallContext context)
    {
        Principal principal = CallPrincipal.Of(context);
        return broker.Topics.Where(t => access.Sees(principal, t.Name));
    }

    private TopicStatsReader ReaderOf(Topic topic, uint? partition, Principal principal) =>
        new(
            broker,
            topic,
            partition is { } index ? topic.GetPartition(index) : null,
            name => access.Sees(principal, name),
            time
        );

    private static TimeSpan IntervalOf(Duration? requested) =>
        IsDefault(requested)
            ? DefaultInterval
            : RequestTimes.Read(requested!, "interval", ShortestInterval, LongestInterval, "100 ms to 1 h");

    private static bool IsDefault(Duration? interval) => interval is null || interval.Equals(new Duration());
}

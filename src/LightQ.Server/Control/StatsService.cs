using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Configuration;
using LightQ.Server.Connections;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using LightQ.Server.Telemetry;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Stats</c>.</summary>
internal sealed class StatsService(
    LightQBroker broker,
    ConnectionListener listener,
    ClientDirectory clients,
    LimitRefusals refusals,
    AccessControl access,
    TimeProvider time
) : Protocol.Control.Stats.StatsBase
{
    private static readonly TimeSpan DefaultInterval = TimeSpan.FromSeconds(1),
        ShortestInterval = TimeSpan.FromMilliseconds(100),
        LongestInterval = TimeSpan.FromHours(1);

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
        (Topic[] page, string next) = TopicPage.Take(Visible(context), request.PageSize, request.PageToken);
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
        var response = new GetBrokerStatsResponse
        {
            Version = ServerVersion.Text,
            BrokerId = broker.Id.ToString("N"),
            StartTime = broker.Started.ToTimestamp(),
            ConnectionsCount = (uint)clients.Count,
            ResidentBytes = (ulong)Environment.WorkingSet,
            DataPort = (uint)listener.EndPoint.Port,
            CatalogUnconfirmed = access.IsLimitedToAdmin,
        };
        foreach (ServerSetting limit in ServerSettings.All.Where(s => s.IsLimit && refusals[s.Key] != 0))
            response.LimitRefusals[limit.Key] = (ulong)refusals[limit.Key];
        foreach (Topic topic in Visible(context))
        {
            var figures = TopicFigures.Of(topic);
            response.TopicsCount++;
            response.PublishersCount += figures.Publishers;
            response.SubscribersCount += figures.Subscribers;
            response.MessagesReceived += figures.MessagesReceived;
            response.MessagesSent += figures.MessagesSent;
            response.TotalBytesWritten += figures.BytesWritten;
            response.TotalBytesRead += figures.BytesRead;
        }
        return Task.FromResult(response);
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
        requested is null || requested.Equals(new Duration())
            ? DefaultInterval
            : RequestTimes.Read(requested, "interval", ShortestInterval, LongestInterval, "100 ms to 1 h");
}

using Google.Protobuf;
using Grpc.Core;
using LightQ.Protocol.Control;
using LightQ.Server.Control;
using LightQ.Server.Messages;
using LightQ.Server.Security;

namespace LightQ.Server.Cluster;

/// <summary>The methods that are about the live state of partitions, and how their calls come to the leaders.</summary>
internal sealed class Forwards
{
    private const string Package = "/lightq.control.v1.";

    private static readonly TimeSpan LongestRedrive = TimeSpan.FromMinutes(10);

    private readonly Dictionary<string, object> _unary = new(StringComparer.Ordinal);
    private readonly Dictionary<string, object> _streams = new(StringComparer.Ordinal);

    public Forwards(NodeCalls calls, AccessControl access, PublishOnce here, TimeProvider time)
    {
        AddGroups(calls);
        AddLetters(calls);
        AddTopics(calls);
        _unary[Package + "Messages/Browse"] = new BrowseForward(calls);
        _unary[Package + "Messages/ListScheduled"] = new ScheduledForward(calls);
        Add(
            calls,
            new TopicRoute<CancelScheduledRequest, CancelScheduledResponse>(
                Unary<CancelScheduledRequest, CancelScheduledResponse>("Messages/CancelScheduled"),
                r => r.Topic
            )
            {
                PartitionOf = r => r.Partition,
                Merge = (_, parts) => parts[0].Response,
            }
        );
        var publish = new PublishForward(calls);
        var spread = new PublishSpread(publish, here, access);
        _unary[Package + "Messages/Publish"] = publish;
        _unary[Package + "Messages/Fetch"] = new FetchForward(calls, time);
        _unary[Package + "Messages/Settle"] = new SettleForward(calls);
        _streams[Package + "Messages/PublishStream"] = new StreamForward<PublishStreamRequest, PublishStreamResponse>(
            calls,
            access,
            Stream<PublishStreamRequest, PublishStreamResponse>("Messages/PublishStream"),
            r => r.Open is { } open ? (open.Topic, open.HasPartition ? open.Partition : null) : null
        )
        {
            SpreadAsync = (topic, requests, responses, context, local) =>
                PublishSpread.Fits(requests.Current)
                    ? spread.ServeAsync(topic, requests, responses, context)
                    : local(requests, responses, context),
        };
        _streams[Package + "Messages/Consume"] = new StreamForward<ConsumeRequest, ConsumeResponse>(
            calls,
            access,
            Stream<ConsumeRequest, ConsumeResponse>("Messages/Consume"),
            r => r.Subscribe is { } open ? (open.Topic, open.HasPartition ? open.Partition : null) : null
        );
    }

    /// <summary>How a method's calls are forwarded; null when each node answers for itself.</summary>
    public Forward<TRequest, TResponse>? Find<TRequest, TResponse>(string method)
        where TRequest : class
        where TResponse : class => _unary.GetValueOrDefault(method) as Forward<TRequest, TResponse>;

    /// <summary>Likewise of a method with streams.</summary>
    public IStreamForward<TRequest, TResponse>? FindStream<TRequest, TResponse>(string method)
        where TRequest : class
        where TResponse : class => _streams.GetValueOrDefault(method) as IStreamForward<TRequest, TResponse>;

    private static Method<TRequest, TResponse> Unary<TRequest, TResponse>(string name)
        where TRequest : class, IMessage<TRequest>, new()
        where TResponse : class, IMessage<TResponse>, new() =>
        NodeMethod.Of<TRequest, TResponse>(MethodType.Unary, Package + name);

    private static Method<TRequest, TResponse> Stream<TRequest, TResponse>(string name)
        where TRequest : class, IMessage<TRequest>, new()
        where TResponse : class, IMessage<TResponse>, new() =>
        NodeMethod.Of<TRequest, TResponse>(MethodType.DuplexStreaming, Package + name);

    private void AddGroups(NodeCalls calls)
    {
        Add(
            calls,
            new TopicRoute<ListGroupsRequest, ListGroupsResponse>(
                Unary<ListGroupsRequest, ListGroupsResponse>("Groups/ListGroups"),
                r => r.Topic
            )
            {
                Merge = GroupMerge.List,
            }
        );
        AddGroup<DescribeGroupRequest, DescribeGroupResponse>(
            calls,
            "DescribeGroup",
            r => r.Topic,
            GroupMerge.Describe
        );
        AddGroup<ExplainGroupRequest, ExplainGroupResponse>(calls, "ExplainGroup", r => r.Topic, GroupMerge.Explain);
        AddGroup<PauseGroupRequest, PauseGroupResponse>(calls, "PauseGroup", r => r.Topic, (_, _) => new());
        AddGroup<ResumeGroupRequest, ResumeGroupResponse>(calls, "ResumeGroup", r => r.Topic, (_, _) => new());
        AddGroup<DeleteGroupRequest, DeleteGroupResponse>(calls, "DeleteGroup", r => r.Topic, (_, _) => new());
        _unary[Package + "Groups/DeleteGroup"] = new DeleteGroupForward(
            calls,
            Find<DescribeGroupRequest, DescribeGroupResponse>(Package + "Groups/DescribeGroup")!,
            Find<DeleteGroupRequest, DeleteGroupResponse>(Package + "Groups/DeleteGroup")!
        );
        AddGroup<RedriveGroupRequest, RedriveGroupResponse>(
            calls,
            "RedriveGroup",
            r => r.Topic,
            GroupMerge.Redrive,
            longest: LongestRedrive
        );
        AddGroup<ResetGroupRequest, ResetGroupResponse>(
            calls,
            "ResetGroup",
            r => r.Topic,
            GroupMerge.Reset,
            r => r.HasPartition ? r.Partition : null
        );
    }

    private void AddLetters(NodeCalls calls)
    {
        Add(
            calls,
            new TopicRoute<ListLettersRequest, ListLettersResponse>(
                Unary<ListLettersRequest, ListLettersResponse>("DeadLetters/ListLetters"),
                r => r.Topic
            )
            {
                Merge = LetterMerge.List,
                PartitionOf = r => r.HasPartition ? r.Partition : null,
                IsOfGroup = true,
            }
        );
        Add(
            calls,
            new TopicRoute<RedriveLettersRequest, RedriveLettersResponse>(
                Unary<RedriveLettersRequest, RedriveLettersResponse>("DeadLetters/RedriveLetters"),
                r => r.Topic
            )
            {
                Merge = LetterMerge.Redrive,
                IsOfGroup = true,
                Longest = LongestRedrive,
            }
        );
        Add(
            calls,
            new TopicRoute<DeleteLettersRequest, DeleteLettersResponse>(
                Unary<DeleteLettersRequest, DeleteLettersResponse>("DeadLetters/DeleteLetters"),
                r => r.Topic
            )
            {
                Merge = LetterMerge.Delete,
                IsOfGroup = true,
                Longest = LongestRedrive,
            }
        );
    }

    private void AddTopics(NodeCalls calls)
    {
        Add(
            calls,
            new TopicRoute<GetTopicRequest, GetTopicResponse>(
                Unary<GetTopicRequest, GetTopicResponse>("Topics/GetTopic"),
                r => r.Name
            )
            {
                Merge = TopicMerge.Get,
                MayLack = true,
            }
        );
        Add(
            calls,
            new TopicRoute<ListTopicsRequest, ListTopicsResponse>(
                Unary<ListTopicsRequest, ListTopicsResponse>("Topics/ListTopics"),
                _ => ""
            )
            {
                Merge = TopicMerge.List,
                MayLack = true,
            }
        );
        Add(
            calls,
            new TopicRoute<TruncateTopicRequest, TruncateTopicResponse>(
                Unary<TruncateTopicRequest, TruncateTopicResponse>("Topics/TruncateTopic"),
                r => r.Name
            )
            {
                PartitionOf = r => r.Partition,
                Merge = (_, parts) => parts[0].Response,
            }
        );
        _unary[Package + "Topics/ReplicateTopic"] = new ReplicateForward(
            calls,
            Unary<ReplicateTopicRequest, ReplicateTopicResponse>("Topics/ReplicateTopic")
        );
        Add(
            calls,
            new TopicRoute<GetTopicStatsRequest, GetTopicStatsResponse>(
                Unary<GetTopicStatsRequest, GetTopicStatsResponse>("Stats/GetTopicStats"),
                r => r.Topic
            )
            {
                PartitionOf = r => r.HasPartition ? r.Partition : null,
                BesideOf = calls.Broker.Groups.DeadLetterTopicOf,
                Merge = TopicMerge.Stats,
            }
        );
        Add(
            calls,
            new TopicRoute<ListTopicStatsRequest, ListTopicStatsResponse>(
                Unary<ListTopicStatsRequest, ListTopicStatsResponse>("Stats/ListTopicStats"),
                _ => ""
            )
            {
                Merge = TopicMerge.ListStats,
            }
        );
        Add(
            calls,
            new TopicRoute<ListSubscriptionsRequest, ListSubscriptionsResponse>(
                Unary<ListSubscriptionsRequest, ListSubscriptionsResponse>("Stats/ListSubscriptions"),
                r => r.Topic
            )
            {
                Merge = TopicMerge.Subscriptions,
            }
        );
    }

    private void AddGroup<TRequest, TResponse>(
        NodeCalls calls,
        string name,
        Func<TRequest, string> topicOf,
        Func<TRequest, IReadOnlyList<NodePart<TResponse>>, TResponse> merge,
        Func<TRequest, uint?>? partitionOf = null,
        TimeSpan? longest = null
    )
        where TRequest : class, IMessage<TRequest>, new()
        where TResponse : class, IMessage<TResponse>, new()
    {
        var route = new TopicRoute<TRequest, TResponse>(Unary<TRequest, TResponse>("Groups/" + name), topicOf)
        {
            Merge = merge,
            IsOfGroup = true,
        };
        if (partitionOf is not null)
            route = route with { PartitionOf = partitionOf };
        if (longest is { } time)
            route = route with { Longest = time };
        Add(calls, route);
    }

    private void Add<TRequest, TResponse>(NodeCalls calls, TopicRoute<TRequest, TResponse> route)
        where TRequest : class
        where TResponse : class => _unary[route.Method.FullName] = new TopicForward<TRequest, TResponse>(calls, route);
}

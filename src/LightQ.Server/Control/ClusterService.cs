using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Protocol.Control;
using LightQ.Server.Security;
using Partition = LightQ.Broker.Topics.Partition;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Cluster</c>.</summary>
/// <param name="broker">The engine.</param>
/// <param name="access">What callers may see.</param>
/// <param name="events">Gets what is done.</param>
/// <param name="addresses">This broker's own, of one without a cluster: data plane and control plane.</param>
/// <param name="time">The clock of calls.</param>
internal sealed class ClusterService(
    LightQBroker broker,
    AccessControl access,
    ISecurityEvents events,
    Func<(string Data, string Control)> addresses,
    TimeProvider time
) : Protocol.Control.Cluster.ClusterBase
{
    private static readonly TimeSpan WatchPause = TimeSpan.FromMilliseconds(200),
        ShortestWatchPause = TimeSpan.FromMilliseconds(20),
        DrainLook = TimeSpan.FromMilliseconds(50);

    private static readonly Task Never = new TaskCompletionSource().Task;

    /// <summary>The only node of a broker without a cluster.</summary>
    private const string Alone = "local";

    private readonly ClusterRepairs _repairs = new(broker);

    private ClusterMembers? Members => broker.Replicas.Members;

    /// <summary>The name of a broker's node.</summary>
    public static string NodeOf(LightQBroker broker) => broker.Replicas.Members?.Node ?? Alone;

    public override Task<ClusterMetadata> GetMetadata(GetMetadataRequest request, ServerCallContext context) =>
        Task.FromResult(Read(request, CallPrincipal.Of(context)));

    public override async Task WatchMetadata(
        GetMetadataRequest request,
        IServerStreamWriter<ClusterMetadata> responses,
        ServerCallContext context
    )
    {
        Principal principal = CallPrincipal.Of(context);
        ClusterMetadata? told = null;
        while (true)
        {
            Task changed = Members?.Changed ?? Never;
            ClusterMetadata now = Read(request, principal);
            if (told is null || !IsSame(told, now))
                await responses.WriteAsync(told = now).ConfigureAwait(false);
            // Many changes at once are one look. Topics and rights change as well, without an event for it.
            await Task.Delay(ShortestWatchPause, time, context.CancellationToken).ConfigureAwait(false);
            await changed
                .WaitAsync(WatchPause - ShortestWatchPause, time, context.CancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            context.CancellationToken.ThrowIfCancellationRequested();
        }
    }

    public override async Task DrainNode(
        DrainNodeRequest request,
        IServerStreamWriter<DrainNodeProgress> responses,
        ServerCallContext context
    )
    {
        await broker.Replicas.DrainAsync(request.Node, context.CancellationToken).ConfigureAwait(false);
        await RaiseAsync(SecurityAction.NodeDrained, context, request.Node).ConfigureAwait(false);
        DrainNodeProgress? told = null;
        while (told is not { PartitionsLeft: 0 })
        {
            var now = new DrainNodeProgress
            {
                PartitionsLeft = (uint)Members!.LedBy(request.Node).Count,
                EntriesLeft = (ulong)Members.EntriesLeft(request.Node),
            };
            if (!now.Equals(told))
                await responses.WriteAsync(told = now).ConfigureAwait(false);
            if (now.PartitionsLeft != 0)
                await Task.Delay(DrainLook, time, context.CancellationToken).ConfigureAwait(false);
        }
    }

    public override async Task<MovePartitionResponse> MovePartition(
        MovePartitionRequest request,
        ServerCallContext context
    )
    {
        Topic topic = broker.GetTopic(request.Topic);
        uint epoch = await broker
            .Replicas.MoveAsync(topic, request.Partition, request.Node, context.CancellationToken)
            .ConfigureAwait(false);
        await RaiseAsync(
                SecurityAction.PartitionMoved,
                context,
                topic.Name,
                $"partition {request.Partition} to {request.Node}, epoch {epoch}"
            )
            .ConfigureAwait(false);
        return new MovePartitionResponse { Epoch = epoch };
    }

    public override async Task<RepairTopicResponse> RepairTopic(RepairTopicRequest request, ServerCallContext context)
    {
        Topic topic = broker.GetTopic(request.Topic);
        List<PartitionRepair> plan = await _repairs.PlanAsync(topic, context.CancellationToken).ConfigureAwait(false);
        if (!request.PlanOnly && plan.Count != 0)
        {
            await RaiseAsync(
                    SecurityAction.TopicRepaired,
                    context,
                    topic.Name,
                    $"the logs of {plan.Count} partitions are written anew"
                )
                .ConfigureAwait(false);
            await _repairs.RunAsync(topic, plan, context.CancellationToken).ConfigureAwait(false);
        }
        return new RepairTopicResponse { Partitions = { plan } };
    }

    public override async Task<RepairCatalogResponse> RepairCatalog(
        RepairCatalogRequest request,
        ServerCallContext context
    )
    {
        RepairCatalogResponse response = await _repairs
            .RepairCatalogAsync(request.PlanOnly, context.CancellationToken)
            .ConfigureAwait(false);
        if (response.Done)
            await RaiseAsync(SecurityAction.CatalogRewritten, context, "", response.Damage).ConfigureAwait(false);
        return response;
    }

    public override async Task<RemoveStreamsResponse> RemoveStreams(
        RemoveStreamsRequest request,
        ServerCallContext context
    )
    {
        if (broker.Streams is not { } streams)
            throw new BrokerException(ErrorCode.NotSupported, "This broker has no cluster: set Cluster:Engine.");
        string by = CallPrincipal.Of(context).ToString();
        await streams.RemoveAsync(request.Names, by, context.CancellationToken).ConfigureAwait(false);
        await RaiseAsync(SecurityAction.StreamsRemoved, context, "", string.Join(", ", request.Names))
            .ConfigureAwait(false);
        return new RemoveStreamsResponse();
    }

    public override async Task<BalancePartitionsResponse> BalancePartitions(
        BalancePartitionsRequest request,
        ServerCallContext context
    )
    {
        Dictionary<Guid, string> names = broker.Topics.ToDictionary(topic => topic.Id, topic => topic.Name);
        var response = new BalancePartitionsResponse
        {
            Moves =
            {
                from move in broker.Replicas.PlanBalance()
                where names.ContainsKey(move.Id.Topic)
                orderby names[move.Id.Topic], move.Id.Partition
                select new PartitionMove
                {
                    Topic = names[move.Id.Topic],
                    Partition = move.Id.Partition,
                    From = move.From,
                    To = move.To,
                },
            },
        };
        response.Left = (uint)response.Moves.Count;
        if (request.PlanOnly)
            return response;
        response.Left = (uint)await broker.Replicas.BalanceAsync(context.CancellationToken).ConfigureAwait(false);
        foreach (PartitionMove move in response.Moves)
        {
            await RaiseAsync(
                    SecurityAction.PartitionMoved,
                    context,
                    move.Topic,
                    $"partition {move.Partition} to {move.To}, to spread all evenly"
                )
                .ConfigureAwait(false);
        }
        return response;
    }

    private static NodeState StateOf(Member member) =>
        !member.IsLive ? NodeState.Silent
        : member.State == MemberState.Alive ? NodeState.Alive
        : NodeState.Draining;

    /// <summary>Whether nothing has changed but how long nodes have been silent.</summary>
    private static bool IsSame(ClusterMetadata one, ClusterMetadata other)
    {
        ClusterMetadata left = one.Clone(),
            right = other.Clone();
        foreach (ClusterNode node in left.Nodes.Concat(right.Nodes))
            node.Silence = null;
        return left.Equals(right);
    }

    private ClusterMetadata Read(GetMetadataRequest request, Principal principal)
    {
        ReplicationOptions? replication = broker.Options.Replication;
        ClusterMembers? members = Members;
        return new ClusterMetadata
        {
            Cluster = replication?.Cluster ?? "",
            Node = NodeOf(broker),
            Engine = replication?.Engine.Description ?? "",
            Listening = members is { IsListening: true },
            Nodes = { members is null ? [Self()] : members.Members.Select(ToProto) },
            Partitions =
            {
                from topic in broker.Topics
                where request.Topics.Count == 0 || request.Topics.Contains(topic.Name)
                where access.Sees(principal, topic.Name)
                orderby topic.Name
                from partition in Enumerable.Range(0, (int)topic.Settings.Partitions)
                select ToProto(topic, (uint)partition, members),
            },
            Conditions =
            {
                from known in replication?.Conditions.All(replication.Node, IsHeard) ?? []
                where known.Condition.Topic.Length == 0 || access.Sees(principal, known.Condition.Topic)
                select ToProto(known.Node, known.Condition),
            },
        };
    }

    private bool IsHeard(string node) => Members?.Find(node) is { IsLive: true };

    private static Protocol.Control.ClusterCondition ToProto(string node, Broker.Cluster.ClusterCondition condition) =>
        new()
        {
            Node = node,
            Kind = condition.Kind,
            Subject = condition.Subject,
            Detail = condition.Detail,
            Remedy = condition.Remedy,
            Failed = condition.IsFailure,
        };

    private ClusterNode Self()
    {
        (string data, string control) = addresses();
        return new ClusterNode
        {
            Name = Alone,
            DataAddress = data,
            ControlAddress = control,
            State = NodeState.Alive,
            Version = ServerVersion.Text,
            Silence = TimeSpan.Zero.ToDuration(),
        };
    }

    private static ClusterNode ToProto(Member member) =>
        new()
        {
            Name = member.Name,
            DataAddress = member.DataAddress,
            ControlAddress = member.ControlAddress,
            State = StateOf(member),
            Leads = (uint)member.Leads,
            Version = member.Version,
            Silence = member.Silence.ToDuration(),
        };

    private static PartitionLeader ToProto(Topic topic, uint partition, ClusterMembers? members)
    {
        if (!topic.Settings.IsReplicated || members is null)
        {
            return new PartitionLeader
            {
                Topic = topic.Name,
                Partition = partition,
                Node = topic.Settings.IsReplicated ? "" : NodeOf(topic.Partitions[(int)partition], members),
                Replicas = Math.Max(1, topic.Settings.Replicas),
            };
        }
        Situation now = members.Of(new PartitionId(topic.Id, partition));
        return new PartitionLeader
        {
            Topic = topic.Name,
            Partition = partition,
            Node = now.IsLed ? now.Leader : "",
            Epoch = now.Epoch,
            Replicas = topic.Settings.Replicas,
        };
    }

    /// <summary>The node that keeps a partition without replicas.</summary>
    private static string NodeOf(Partition partition, ClusterMembers? members) =>
        partition.Refusal is { IsElsewhere: true } elsewhere ? elsewhere.Node : members?.Node ?? Alone;

    private Task RaiseAsync(SecurityAction action, ServerCallContext context, string subject, string detail = "") =>
        events.RaiseAsync(
            new SecurityEvent(
                action,
                CallPrincipal.Of(context).ToString(),
                Origin.Control(context),
                Subject: subject,
                Detail: detail
            )
        );
}

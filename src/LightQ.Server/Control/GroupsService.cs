using LightQ.Broker;
using LightQ.Grpc.AspNetCore;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Server.Security;
using Microsoft.Extensions.Logging;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Groups</c>.</summary>
internal sealed class GroupsService(LightQBroker broker, AccessControl access, ILogger logger)
{
    public RuledServiceBuilder Bind(RuledServiceBuilder service) => service
        .Unary<ListGroupsRequest, ListGroupsResponse>("ListGroups", List)
        .Unary<DescribeGroupRequest, DescribeGroupResponse>("DescribeGroup", Describe)
        .Unary<ResetGroupRequest, ResetGroupResponse>("ResetGroup", ResetAsync)
        .Unary<PauseGroupRequest, PauseGroupResponse>("PauseGroup", Pause)
        .Unary<ResumeGroupRequest, ResumeGroupResponse>("ResumeGroup", Resume)
        .Unary<DeleteGroupRequest, DeleteGroupResponse>("DeleteGroup", Delete)
        .Unary<RedriveGroupRequest, RedriveGroupResponse>("RedriveGroup", RedriveAsync)
        .Unary<ExplainGroupRequest, ExplainGroupResponse>("ExplainGroup", Explain);

    private Task<ListGroupsResponse> List(ListGroupsRequest request, GrpcServerCallContext context)
    {
        Principal principal = CallPrincipal.Of(context);
        IEnumerable<Topic> topics = request.Topic.Length != 0
            ? [broker.GetTopic(request.Topic)]
            : broker.Topics.Where(t => access.Sees(principal, t.Name)).OrderBy(t => t.Name, StringComparer.Ordinal);
        return Task.FromResult(new ListGroupsResponse
        {
            Groups = { topics.SelectMany(t => broker.Groups.NamesOf(t).Select(name => GroupMapping.ToProto(t, name, broker.Groups.Find(t, name), withPartitions: false))) },
        });
    }

    private Task<DescribeGroupResponse> Describe(DescribeGroupRequest request, GrpcServerCallContext context)
    {
        Topic topic = broker.GetTopic(request.Topic);
        return Task.FromResult(new DescribeGroupResponse { Group = GroupMapping.ToProto(topic, request.Group, broker.Groups.Find(topic, request.Group), withPartitions: true) });
    }

    private async Task<ResetGroupResponse> ResetAsync(ResetGroupRequest request, GrpcServerCallContext context)
    {
        (StartKind start, long value) = request.ToCase switch
        {
            ResetGroupRequest.ToOneofCase.Offset when request.Offset >= 0 => (StartKind.Offset, request.Offset),
            ResetGroupRequest.ToOneofCase.Offset => throw new BrokerException(ErrorCode.InvalidArgument, $"offset is {request.Offset}; allowed: 0 or more."),
            ResetGroupRequest.ToOneofCase.Time => (StartKind.Timestamp, UnixMicroseconds.From(request.Time.ToDateTimeOffset())),
            ResetGroupRequest.ToOneofCase.Earliest when request.Earliest => (StartKind.Earliest, 0),
            ResetGroupRequest.ToOneofCase.Latest when request.Latest => (StartKind.Latest, 0L),
            _ => throw new BrokerException(ErrorCode.InvalidArgument, "Where to is missing; allowed: one of offset, time, earliest and latest."),
        };
        Topic topic = broker.GetTopic(request.Topic);
        uint? partition = request.HasPartition ? request.Partition : null;
        // It may look a time up on the disk, and waits until the positions are there.
        IReadOnlyList<long> offsets = await Task.Run(() => broker.Groups.Reset(topic, request.Group, partition, start, value)).ConfigureAwait(false);
        ServerLog.GroupChanged(logger, request.Group, topic.Name, "reset", context.Peer);
        return new ResetGroupResponse { Offsets = { offsets } };
    }

    private Task<PauseGroupResponse> Pause(PauseGroupRequest request, GrpcServerCallContext context)
    {
        broker.Groups.SetPaused(broker.GetTopic(request.Topic), request.Group, paused: true);
        ServerLog.GroupChanged(logger, request.Group, request.Topic, "paused", context.Peer);
        return Task.FromResult(new PauseGroupResponse());
    }

    private Task<ResumeGroupResponse> Resume(ResumeGroupRequest request, GrpcServerCallContext context)
    {
        broker.Groups.SetPaused(broker.GetTopic(request.Topic), request.Group, paused: false);
        ServerLog.GroupChanged(logger, request.Group, request.Topic, "resumed", context.Peer);
        return Task.FromResult(new ResumeGroupResponse());
    }

    private Task<DeleteGroupResponse> Delete(DeleteGroupRequest request, GrpcServerCallContext context)
    {
        broker.Groups.Delete(broker.GetTopic(request.Topic), request.Group);
        ServerLog.GroupChanged(logger, request.Group, request.Topic, "deleted", context.Peer);
        return Task.FromResult(new DeleteGroupResponse());
    }

    private async Task<RedriveGroupResponse> RedriveAsync(RedriveGroupRequest request, GrpcServerCallContext context)
    {
        (long redriven, long skipped) = await broker.Groups.RedriveAsync(broker.GetTopic(request.Topic), request.Group, context.CancellationToken).ConfigureAwait(false);
        ServerLog.GroupChanged(logger, request.Group, request.Topic, "redriven", context.Peer);
        return new RedriveGroupResponse { Redriven = (ulong)redriven, Skipped = (ulong)skipped };
    }

    private Task<ExplainGroupResponse> Explain(ExplainGroupRequest request, GrpcServerCallContext context) =>
        Task.FromResult(new ExplainGroupResponse { Reasons = { broker.Groups.Explain(broker.GetTopic(request.Topic), request.Group).Select(GroupMapping.ToProto) } });
}

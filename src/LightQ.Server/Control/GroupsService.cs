using Grpc.Core;
using LightQ.Broker;
using LightQ.Broker.Groups;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using Right = LightQ.Broker.Users.Right;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Groups</c>.</summary>
internal sealed class GroupsService(
    LightQBroker broker,
    ClientDirectory clients,
    AccessControl access,
    ISecurityEvents events
) : Protocol.Control.Groups.GroupsBase
{
    public override async Task<ListGroupsResponse> ListGroups(ListGroupsRequest request, ServerCallContext context)
    {
        Principal principal = CallPrincipal.Of(context);
        Topic[] topics =
            request.Topic.Length != 0
                ? [broker.GetTopic(request.Topic)]
                :
                [
                    .. broker
                        .Topics.Where(t => access.Sees(principal, t.Name))
                        .OrderBy(t => t.Name, StringComparer.Ordinal),
                ];
        IReadOnlyList<GroupSummary> groups = await broker
            .Groups.ReadAsync(broker.Groups.NamesOf(topics), context.CancellationToken)
            .ConfigureAwait(false);
        return new ListGroupsResponse { Groups = { groups.Select(GroupMapping.ToProto) } };
    }

    public override async Task<DescribeGroupResponse> DescribeGroup(
        DescribeGroupRequest request,
        ServerCallContext context
    )
    {
        Topic topic = broker.GetTopic(request.Topic);
        GroupSummary group = await broker
            .Groups.ReadAsync(topic, request.Group, context.CancellationToken)
            .ConfigureAwait(false);
        // Whose they are is told to who could also end them: elsewhere addresses need the right admin.
        bool mayName = access.Allows(CallPrincipal.Of(context), Right.Manage, topic.Name);
        return new DescribeGroupResponse
        {
            Group = GroupMapping.Describe(group, id => mayName ? clients.Find(id) : null),
        };
    }

    public override async Task<ResetGroupResponse> ResetGroup(ResetGroupRequest request, ServerCallContext context)
    {
        (StartKind start, long value) = request.ToCase switch
        {
            ResetGroupRequest.ToOneofCase.Offset when request.Offset >= 0 => (StartKind.Offset, request.Offset),
            ResetGroupRequest.ToOneofCase.Offset => throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"offset is {request.Offset}; allowed: 0 or more."
            ),
            ResetGroupRequest.ToOneofCase.Time => (StartKind.Timestamp, RequestTimes.Read(request.Time, "time")),
            ResetGroupRequest.ToOneofCase.Earliest when request.Earliest => (StartKind.Earliest, 0),
            ResetGroupRequest.ToOneofCase.Latest when request.Latest => (StartKind.Latest, 0L),
            _ => throw new BrokerException(
                ErrorCode.InvalidArgument,
                "Where to is missing; allowed: one of offset, time, earliest and latest."
            ),
        };
        Topic topic = broker.GetTopic(request.Topic);
        uint? partition = request.HasPartition ? request.Partition : null;
        IReadOnlyList<long> offsets = [];
        string which = partition is { } one ? $"partition {one}" : "partitions from 0";
        // It may look a time up on the disk, and waits until the positions are there.
        await RaiseForAsync(
                SecurityAction.GroupReset,
                context,
                topic.Name,
                request.Group,
                () => broker.Groups.Reset(topic, request.Group, partition, start, value, out offsets),
                () => $"{which} to {string.Join(", ", offsets)}"
            )
            .ConfigureAwait(false);
        return new ResetGroupResponse { Offsets = { offsets } };
    }

    public override async Task<PauseGroupResponse> PauseGroup(PauseGroupRequest request, ServerCallContext context)
    {
        await RaiseForAsync(
                SecurityAction.GroupPaused,
                context,
                request.Topic,
                request.Group,
                () => broker.Groups.SetPaused(broker.GetTopic(request.Topic), request.Group, paused: true)
            )
            .ConfigureAwait(false);
        return new PauseGroupResponse();
    }

    public override async Task<ResumeGroupResponse> ResumeGroup(ResumeGroupRequest request, ServerCallContext context)
    {
        await RaiseForAsync(
                SecurityAction.GroupResumed,
                context,
                request.Topic,
                request.Group,
                () => broker.Groups.SetPaused(broker.GetTopic(request.Topic), request.Group, paused: false)
            )
            .ConfigureAwait(false);
        return new ResumeGroupResponse();
    }

    public override async Task<DeleteGroupResponse> DeleteGroup(DeleteGroupRequest request, ServerCallContext context)
    {
        DemandManagerOrMaker(CallPrincipal.Of(context), request);
        await RaiseForAsync(
                SecurityAction.GroupDeleted,
                context,
                request.Topic,
                request.Group,
                () => broker.Groups.Delete(broker.GetTopic(request.Topic), request.Group)
            )
            .ConfigureAwait(false);
        return new DeleteGroupResponse();
    }

    public override async Task<RedriveGroupResponse> RedriveGroup(
        RedriveGroupRequest request,
        ServerCallContext context
    )
    {
        (long redriven, long skipped) = await broker
            .Groups.RedriveAsync(broker.GetTopic(request.Topic), request.Group, context.CancellationToken)
            .ConfigureAwait(false);
        await RaiseAsync(
                SecurityAction.GroupRedriven,
                context,
                request.Topic,
                request.Group,
                $"{redriven} messages, {skipped} skipped"
            )
            .ConfigureAwait(false);
        return new RedriveGroupResponse { Redriven = (ulong)redriven, Skipped = (ulong)skipped };
    }

    public override Task<ExplainGroupResponse> ExplainGroup(ExplainGroupRequest request, ServerCallContext context) =>
        Task.FromResult(
            new ExplainGroupResponse
            {
                Reasons =
                {
                    broker.Groups.Explain(broker.GetTopic(request.Topic), request.Group).Select(GroupMapping.ToProto),
                },
            }
        );

    /// <summary>A group is deleted by who may manage the topic, or has made the group and may consume it.</summary>
    private void DemandManagerOrMaker(Principal caller, DeleteGroupRequest request)
    {
        if (access.Refusal(caller, Right.Manage, request.Topic) is not { } refusal)
            return;
        uint? maker = broker.TryGetTopic(request.Topic, out Topic? topic)
            ? broker.Groups.MakerOf(topic, request.Group)
            : null;
        if (maker is null && access.MayBeOld)
            return; // It is another node's to decide; this one has nothing of it to delete.
        if (maker != caller.Number || !access.Allows(caller, Right.Consume, request.Topic))
            throw refusal;
    }

    private Task RaiseAsync(
        SecurityAction action,
        ServerCallContext context,
        string topic,
        string group,
        string detail = ""
    ) => events.RaiseAsync(Event(action, context, topic, group, detail));

    /// <summary>Makes a change, which blocks on the disk, and raises its event.</summary>
    private Task<bool> RaiseForAsync(
        SecurityAction action,
        ServerCallContext context,
        string topic,
        string group,
        Action change,
        Func<string>? detail = null
    ) =>
        events.RaiseForAsync(
            () => Event(action, context, topic, group, detail?.Invoke() ?? ""),
            async () =>
            {
                await broker.Decisions.ChangeAsync(change).ConfigureAwait(false);
                return true;
            }
        );

    private static SecurityEvent Event(
        SecurityAction action,
        ServerCallContext context,
        string topic,
        string group,
        string detail
    ) => new(action, CallPrincipal.Of(context).ToString(), Origin.Control(context), $"{topic}/{group}", detail);
}

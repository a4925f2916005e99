using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Control;

namespace LightQ.Server.Cluster;

/// <summary>Deletes a group on all nodes, if it has members on none.</summary>
internal sealed class DeleteGroupForward(
    NodeCalls calls,
    Forward<DescribeGroupRequest, DescribeGroupResponse> describe,
    Forward<DeleteGroupRequest, DeleteGroupResponse> delete
) : Forward<DeleteGroupRequest, DeleteGroupResponse>
{
    public override async Task<DeleteGroupResponse> ServeAsync(
        DeleteGroupRequest request,
        ServerCallContext context,
        UnaryServerMethod<DeleteGroupRequest, DeleteGroupResponse> local
    )
    {
        if (ForwardedCall.Of(context) is null)
        {
            // A node deletes its part by itself, and must not when another one would refuse.
            DescribeGroupResponse found = await describe
                .ServeAsync(new() { Topic = request.Topic, Group = request.Group }, context, DescribeAsync)
                .ConfigureAwait(false);
            if (found.Group.MembersCount != 0)
            {
                throw new BrokerException(
                    ErrorCode.GroupInUse,
                    $"The group '{request.Group}' has {found.Group.MembersCount} members; it can be deleted when they "
                        + $"have left."
                );
            }
        }
        return await delete.ServeAsync(request, context, local).ConfigureAwait(false);
    }

    private async Task<DescribeGroupResponse> DescribeAsync(DescribeGroupRequest request, ServerCallContext context) =>
        new()
        {
            Group = GroupMapping.ToProto(
                await calls
                    .Broker.Groups.ReadAsync(
                        calls.Broker.GetTopic(request.Topic),
                        request.Group,
                        context.CancellationToken
                    )
                    .ConfigureAwait(false)
            ),
        };
}

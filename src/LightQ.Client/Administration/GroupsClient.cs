using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using WireGroup = LightQ.Protocol.Control.Group;

namespace LightQ.Client.Administration;

/// <summary>
/// Describes, resets, pauses and deletes consumer groups. Reached by <see cref="LightQClient.Groups"/>.
/// </summary>
/// <remarks>
/// Thread-safe. Uses the control plane (gRPC). A group exists from the first subscription of a member on. Every method
/// fails with a <see cref="LightQException"/>: <see cref="ErrorCode.UnknownTopic"/>,
/// <see cref="ErrorCode.UnknownGroup"/>, or the broker cannot be reached.
/// </remarks>
/// <example>
/// <code>
/// foreach (GroupReason reason in await client.Groups.ExplainAsync("orders", "billing"))
///     Console.WriteLine(reason.Text);
/// </code>
/// </example>
public sealed class GroupsClient
{
    private readonly Protocol.Control.Groups.GroupsClient _calls;

    internal GroupsClient(ControlChannel channel) => _calls = new Protocol.Control.Groups.GroupsClient(channel.Calls);

    /// <summary>The groups of a topic, or of all topics, by topic and name; without their partitions.</summary>
    /// <param name="topic">The topic's name; null for all.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<IReadOnlyList<GroupInfo>> ListAsync(
        string? topic = null,
        CancellationToken cancellationToken = default
    )
    {
        ListGroupsResponse response = await _calls
            .ListGroupsAsync(new ListGroupsRequest { Topic = topic ?? "" }, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return [.. response.Groups.Select(ToInfo)];
    }

    /// <summary>One group with its partitions and members.</summary>
    /// <param name="topic">The topic's name.</param>
    /// <param name="group">The group's name.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<GroupInfo> GetAsync(string topic, string group, CancellationToken cancellationToken = default) =>
        ToInfo(
            (
                await _calls
                    .DescribeGroupAsync(
                        new DescribeGroupRequest { Topic = topic, Group = group },
                        cancellationToken: cancellationToken
                    )
                    .ConfigureAwait(false)
            ).Group
        );

    /// <summary>Moves a group to another position. Its members can no longer settle the messages they hold.</summary>
    /// <param name="topic">The topic's name.</param>
    /// <param name="group">The group's name.</param>
    /// <param name="to">Earliest, latest, an offset or a time.</param>
    /// <param name="partition">Only this partition; null for all.</param>
    /// <param name="cancellationToken">Ends the wait; the group may be reset nevertheless.</param>
    /// <returns>The group's new position, by partition.</returns>
    /// <exception cref="ArgumentException">
    /// <paramref name="to"/> is committed, which is where the group is already, or is the default value.
    /// </exception>
    public async Task<IReadOnlyList<long>> ResetAsync(
        string topic,
        string group,
        StartPosition to,
        int? partition = null,
        CancellationToken cancellationToken = default
    )
    {
        var request = new ResetGroupRequest { Topic = topic, Group = group };
        switch (to.Kind)
        {
            case StartKind.Earliest:
                request.Earliest = true;
                break;
            case StartKind.Latest:
                request.Latest = true;
                break;
            case StartKind.Offset:
                request.Offset = to.Value;
                break;
            case StartKind.Timestamp:
                request.Time = DateTimeOffset.UnixEpoch.AddMicroseconds(to.Value).ToTimestamp();
                break;
            default:
                throw new ArgumentException(
                    "A group is reset to the earliest or latest message, an offset or a time.",
                    nameof(to)
                );
        }
        if (partition is { } only)
            request.Partition = (uint)only;
        return (
            await _calls.ResetGroupAsync(request, cancellationToken: cancellationToken).ConfigureAwait(false)
        ).Offsets;
    }

    /// <summary>Stops a group's deliveries. Its members stay, and can settle the messages they hold.</summary>
    /// <param name="topic">The topic's name.</param>
    /// <param name="group">The group's name.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public Task PauseAsync(string topic, string group, CancellationToken cancellationToken = default) =>
        _calls
            .PauseGroupAsync(
                new PauseGroupRequest { Topic = topic, Group = group },
                cancellationToken: cancellationToken
            )
            .ResponseAsync;

    /// <summary>Resumes a group's deliveries.</summary>
    /// <param name="topic">The topic's name.</param>
    /// <param name="group">The group's name.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public Task ResumeAsync(string topic, string group, CancellationToken cancellationToken = default) =>
        _calls
            .ResumeGroupAsync(
                new ResumeGroupRequest { Topic = topic, Group = group },
                cancellationToken: cancellationToken
            )
            .ResponseAsync;

    /// <summary>Deletes a group and its position.</summary>
    /// <param name="topic">The topic's name.</param>
    /// <param name="group">The group's name.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">Also <see cref="ErrorCode.GroupInUse"/>: it has members.</exception>
    public Task DeleteAsync(string topic, string group, CancellationToken cancellationToken = default) =>
        _calls
            .DeleteGroupAsync(
                new DeleteGroupRequest { Topic = topic, Group = group },
                cancellationToken: cancellationToken
            )
            .ResponseAsync;

    /// <summary>
    /// Makes a group's dead-lettered messages available to it again, if the topic still holds them. Each dead letter is
    /// redriven once.
    /// </summary>
    /// <param name="topic">The topic's name.</param>
    /// <param name="group">The group's name.</param>
    /// <param name="cancellationToken">
    /// Ends the wait, and the redrive; the next redrive goes on where this one stopped.
    /// </param>
    public async Task<RedriveResult> RedriveAsync(
        string topic,
        string group,
        CancellationToken cancellationToken = default
    )
    {
        RedriveGroupResponse response = await _calls
            .RedriveGroupAsync(
                new RedriveGroupRequest { Topic = topic, Group = group },
                cancellationToken: cancellationToken
            )
            .ConfigureAwait(false);
        return new RedriveResult((long)response.Redriven, (long)response.Skipped);
    }

    /// <summary>Says why a group, or one of its members, gets no messages at the moment.</summary>
    /// <param name="topic">The topic's name.</param>
    /// <param name="group">The group's name.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The reasons, by partition; empty when nothing holds up the group.</returns>
    public async Task<IReadOnlyList<GroupReason>> ExplainAsync(
        string topic,
        string group,
        CancellationToken cancellationToken = default
    )
    {
        ExplainGroupResponse response = await _calls
            .ExplainGroupAsync(
                new ExplainGroupRequest { Topic = topic, Group = group },
                cancellationToken: cancellationToken
            )
            .ConfigureAwait(false);
        return
        [
            .. response.Reasons.Select(r => new GroupReason(
                (LightQ.Client.GroupHold)r.Hold,
                (int)r.Partition,
                r.HasConnectionId ? r.ConnectionId : null,
                r.Until?.ToDateTimeOffset(),
                r.Text
            )),
        ];
    }

    private static GroupInfo ToInfo(WireGroup group) =>
        new(
            group.Topic,
            group.Group_,
            group.SettleMode == GroupSettleMode.Explicit ? SettleMode.Explicit : SettleMode.Automatic,
            group.Paused,
            (int)group.MembersCount,
            (long)group.Lag
        )
        {
            Partitions = [.. group.Partitions.Select(ToInfo)],
            ClientsCount = (int)group.ClientsCount,
            Clients =
            [
                .. group.Clients.Select(c => new GroupClientInfo(
                    c.ConnectionId,
                    c.ClientName,
                    c.RemoteAddress,
                    (int)c.MembersCount,
                    [.. c.Partitions.Select(p => (int)p)],
                    (long)c.InFlight
                )),
            ],
            OldestUnsettledAge = group.OldestUnsettledAge?.ToTimeSpan(),
            InFlight = (long)group.InFlight,
            Delivered = (long)group.Delivered,
            Redelivered = (long)group.Redelivered,
            DeadLettered = (long)group.DeadLettered,
        };

    private static GroupPartitionInfo ToInfo(GroupPartition partition) =>
        new()
        {
            Partition = (int)partition.Partition,
            CommittedOffset = partition.CommittedOffset,
            NextOffset = partition.NextOffset,
            EndOffset = partition.EndOffset,
            InFlight = (long)partition.InFlight,
            RedeliveriesReady = (int)partition.RedeliveriesReady,
            RedeliveriesDelayed = (int)partition.RedeliveriesDelayed,
            NextRedelivery = partition.NextRedeliveryTime?.ToDateTimeOffset(),
            FirstLockEnd = partition.FirstLockEndTime?.ToDateTimeOffset(),
            DeadLettersWaiting = (int)partition.DeadLettersWaiting,
            Members =
            [
                .. partition.Members.Select(m => new GroupMemberInfo(
                    m.ConnectionId,
                    m.Stream,
                    (long)m.InFlight,
                    (int)m.MaxInFlight,
                    m.CreditBytes,
                    m.Assigned
                )),
            ],
        };
}

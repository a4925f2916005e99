using LightQ.Broker.Logs;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;

namespace LightQ.Broker.Groups;

/// <summary>A member of a group: gets messages that no other member gets.</summary>
public abstract class GroupMember : Subscription
{
    private protected GroupMember(IStreamOwner owner, uint id, Partition partition, Group group)
        : base(owner, id, partition)
    {
        Group = group;
        Reader = partition.Log.OpenReader(StartKind.Latest, 0, holds: true, Schedule);
        Reader.Park();
    }

    /// <summary>The group.</summary>
    public Group Group { get; }

    /// <inheritdoc/>
    public override string GroupName => Group.Name;

    /// <inheritdoc/>
    public override long NextOffset => Group.NextOffset;

    /// <summary>Assigns the topic's partitions to members; null where there is one partition.</summary>
    internal GroupAssignment? Assignment { get; set; }

    /// <summary>This member's own reader; moved under the group's gate.</summary>
    internal LogReader Reader { get; }

    private protected override bool HasEverything => Group.HasSettledEverything;

    private protected override void LeaveTopic()
    {
        Partition.Detach(this);
        Group.Leave(this);
        if (Group.MemberCount == 0)
            Group.MarkUsed();
        Assignment?.Leave(this);
        Reader.Dispose();
        Partition.RoomMade();
    }
}

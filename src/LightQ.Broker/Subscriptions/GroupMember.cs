using LightQ.Broker.Logs;
using LightQ.Broker.Scheduling;
using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Subscriptions;

/// <summary>A member of a group: gets runs that no other member gets, settled when they are in its socket.</summary>
internal sealed class GroupMember : Subscription
{
    /// <summary>Runs of a group are short, so that members share the work evenly.</summary>
    private const int RunBytes = 64 * 1024;

    private readonly Group _group;

    public GroupMember(IStreamOwner owner, uint id, Partition partition, Group group, StartKind start, long value)
        : base(owner, id, partition)
    {
        _group = group;
        Reader = partition.Log.OpenReader(StartKind.Latest, 0, holds: true, Schedule);
        Reader.Park();
        group.Join(this, start, value);
        FirstOffset = group.NextOffset;
    }

    public override string GroupName => _group.Name;

    public override long NextOffset => _group.NextOffset;

    private protected override bool Blocks => Partition.Log is RingLog;

    /// <summary>This member's own reader; moved under the group's lock.</summary>
    internal LogReader Reader { get; }

    /// <summary>The run it was given and that is not yet in its socket; guarded by the group's lock.</summary>
    internal LentRun Taken { get; set; }

    private protected override void LeaveTopic()
    {
        Partition.Detach(this);
        _group.Leave(this, Taken);
        Reader.Dispose();
        Partition.RoomMade();
    }

    private protected override ReadResult Read(out LentRun run, out LogGap gap) => _group.Take(this, RunBytes, out run, out gap);

    private protected override void Advance(in LentRun run) => _group.Settle(this);
}

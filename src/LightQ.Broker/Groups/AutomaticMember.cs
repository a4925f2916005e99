using LightQ.Broker.Logs;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Groups;

/// <summary>A member whose runs are settled when they are in its socket.</summary>
internal sealed class AutomaticMember : GroupMember
{
    /// <summary>Runs of a group are short, so that members share the work evenly.</summary>
    private const int RunBytes = 64 * 1024;

    private readonly AutomaticGroup _group;

    public AutomaticMember(
        IStreamOwner owner,
        uint id,
        Partition partition,
        AutomaticGroup group,
        StartKind start,
        long value
    )
        : base(owner, id, partition, group)
    {
        _group = group;
        group.Join(this, start, value);
        FirstOffset = group.NextOffset;
    }

    private protected override bool Blocks => Partition.Log is RingLog;

    /// <summary>The run it was given and that is not yet in its socket; guarded by the group's gate.</summary>
    internal LentRun Taken { get; set; }

    private protected override ReadResult Read(out LentRun run, out LogGap gap) =>
        _group.Take(this, RunBytes, out run, out gap);

    private protected override void Advance(in LentRun run) => _group.Settle(this);
}

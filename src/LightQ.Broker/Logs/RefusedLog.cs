using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Logs;

/// <summary>
/// Stands for the log of a partition that could not be opened: holds nothing, takes nothing, and touches nothing that
/// is on the disk.
/// </summary>
internal sealed class RefusedLog(PartitionRefusal refusal) : ITopicLog
{
    public long StartOffset => 0;

    public long EndOffset => 0;

    public long DurableOffset => 0;

    public long ReadableOffset => 0;

    public long EndPosition => 0;

    public ulong Incarnation => 0;

    public uint Epoch => 0;

    public long StoredBytes => 0;

    public Durability MaxDurability => Durability.Fsync;

    public string? Failure => refusal.Reason;

    public ErrorCode FailureCode => refusal.Code;

    public bool IsDiskFull => refusal.Code == ErrorCode.DiskFull;

    public IEnumerable<JournalDamage> Damage => [];

    public long EndOfEpoch(uint epoch) => 0;

    public AppendResult TryAppend(ReadOnlySpan<byte> batch, long appendTime, out long baseOffset, uint user = 0)
    {
        baseOffset = -1;
        return AppendResult.Failed;
    }

    public void Flush() { }

    public long PositionOf(Durability durability) => 0;

    public void NotifyWritten() { }

    public LogReader OpenReader(StartKind start, long value, bool holds, Action ready) => throw Refused();

    public long Truncate(long beforeOffset) => throw Refused();

    public void SetRetention(long bytes, TimeSpan age) { }

    public ValueTask DeleteAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private BrokerException Refused() => new(refusal.Code, refusal.Reason);
}

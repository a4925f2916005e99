using LightQ.Protocol.Frames;

namespace LightQ.Broker.Logs;

/// <summary>A contiguous run of whole batches, lent by a <see cref="LogReader"/> until it is moved.</summary>
/// <param name="Memory">The batches; native or pinned memory.</param>
/// <param name="Start">Where it begins.</param>
/// <param name="End">Where the next run begins.</param>
public readonly record struct LentRun(ReadOnlyMemory<byte> Memory, LogCursor Start, LogCursor End)
{
    /// <summary>How many messages it holds.</summary>
    public long Messages => End.Offset - Start.Offset;

    /// <summary>What a member of a group is given of a batch.</summary>
    internal static LentRun Of(in GroupDelivery delivery, ReadOnlyMemory<byte> batch)
    {
        long end = delivery.FirstOffset + delivery.Count;
        return new LentRun(batch, new LogCursor(delivery.FirstOffset, delivery.FirstOffset), new LogCursor(end, end));
    }
}

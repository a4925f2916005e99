namespace LightQ.Broker.Logs;

/// <summary>A contiguous run of whole batches, lent by a <see cref="LogReader"/> until it is moved.</summary>
/// <param name="Memory">The batches; native or pinned memory.</param>
/// <param name="Start">Where it begins.</param>
/// <param name="End">Where the next run begins.</param>
public readonly record struct LentRun(ReadOnlyMemory<byte> Memory, LogCursor Start, LogCursor End)
{
    /// <summary>How many messages it holds.</summary>
    public long Messages => End.Offset - Start.Offset;
}

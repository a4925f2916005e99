using LightQ.Protocol.Batches;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage.Reading;

/// <summary>
/// Goes through the headers of what was appended lately and is written, segment by segment from the newest, while the
/// log goes on.
/// </summary>
/// <remarks>
/// What was found damaged is passed over. Payloads are not read: where batches are long, most of the files are not.
/// </remarks>
internal sealed class RecentHeaders
{
    private const int WindowBytes = 64 * 1024;
    private readonly LogState _log;
    private readonly LogEnd _end;

    /// <summary>Looks at a log as it is now.</summary>
    public RecentHeaders(LogState log)
    {
        _log = log;
        _end = (log.Failure is null ? log.Written : log.Durable).Read();
    }

    /// <summary>One behind the last offset that it goes through.</summary>
    public long EndOffset => _end.Offset;

    /// <summary>Hands over the headers of one segment after the other, each from its first batch on.</summary>
    /// <param name="since">Segments that end before this time are not read, unix microseconds.</param>
    /// <param name="visitor">Gets the headers. The view holds the header only.</param>
    /// <param name="goesOn">Asked behind each segment whether the one before it is wanted.</param>
    /// <exception cref="IOException">The disk refuses to read.</exception>
    public void Visit(long since, IRecoveredBatchVisitor visitor, Func<bool> goesOn)
    {
        Segment[] segments = [.. _log.Segments.All];
        for (int i = segments.Length - 1; i >= 0; i--)
        {
            Segment segment = segments[i];
            if (segment.Header.Ordinal > _end.Ordinal)
                continue;
            if (!segment.TryAcquire())
                return; // Retention removed it meanwhile, and all before it.
            try
            {
                Visit(segment, visitor);
            }
            finally
            {
                segment.Release();
            }
            if (segment.Header.PreviousTime < since || !goesOn())
                return;
        }
    }

    private void Visit(Segment segment, IRecoveredBatchVisitor visitor)
    {
        long limit = segment.Header.Ordinal == _end.Ordinal ? _end.Position : segment.EndPosition;
        var window = new FileWindow(segment.File, WindowBytes);
        long offset = segment.BaseOffset;
        for (
            long position = segment.BasePosition;
            BatchScan.TryReadHeader(window, segment, position, limit, out BatchView header)
                && header.BaseOffset == offset;
            position += header.Length
        )
        {
            offset = header.NextOffset;
            if (!_log.IsDamaged(new LogGap(header.BaseOffset, header.NextOffset - 1, GapReason.Corrupt)))
                visitor.OnBatch(header);
        }
    }
}

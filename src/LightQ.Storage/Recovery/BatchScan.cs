using LightQ.Protocol.Batches;
using LightQ.Protocol.Checksums;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage.Recovery;

/// <summary>Walks the batches of a segment and stops at the first that is not what must come next.</summary>
internal static class BatchScan
{
    /// <summary>Walks from a place on.</summary>
    /// <param name="window">The segment's file.</param>
    /// <param name="segment">The segment.</param>
    /// <param name="start">Where the first batch begins, what offset it must have and what checksum it must refer to.</param>
    /// <param name="limit">Log position to stop at.</param>
    /// <param name="payloads">Whether payload checksums are verified too; nobody reads that of a gap.</param>
    /// <param name="visitor">Gets every valid header.</param>
    /// <returns>Where the valid batches end.</returns>
    public static LogEnd Run(FileWindow window, Segment segment, LogEnd start, long limit, bool payloads, IRecoveredBatchVisitor? visitor = null)
    {
        LogEnd at = start with { Ordinal = segment.Header.Ordinal };
        while (TryNext(window, segment, limit, payloads, visitor, ref at))
        {
            // It is what must come there.
        }
        return at;
    }

    /// <summary>Goes behind one batch, as <see cref="Run"/> does.</summary>
    /// <returns>False when the batch is not what must come next, or the limit is reached.</returns>
    public static bool TryNext(FileWindow window, Segment segment, long limit, bool payloads, IRecoveredBatchVisitor? visitor, ref LogEnd at)
    {
        if (!TryReadHeader(window, segment, at.Position, limit, out BatchView header))
            return false;
        if (header.BaseOffset != at.Offset || header.PreviousCrc != at.ChainCrc || header.AppendTime < at.AppendTime)
            return false;
        visitor?.OnBatch(header);
        var next = new LogEnd(at.Position + header.Length, header.NextOffset, header.AppendTime, at.Ordinal, header.HeaderCrc);
        if (payloads && header.Kind != BatchKind.Gap && !HasPayload(window, segment, at.Position, header.Length, header.HeaderLength, header.PayloadCrc))
            return false;
        segment.Index?.Note(at.Offset, next.AppendTime, at.Position);
        at = next;
        return true;
    }

    /// <summary>The header at a log position, if there is a valid one whose batch ends at or before the limit.</summary>
    public static bool TryReadHeader(FileWindow window, Segment segment, long position, long limit, out BatchView header)
    {
        header = default;
        int most = (int)Math.Min(BatchLayout.MaxHeaderSize, limit - position);
        if (most < BatchLayout.HeaderSize)
            return false;
        ReadOnlySpan<byte> bytes = window.Get(segment.FilePosition(position), most);
        return IsHeader(bytes, limit - position, out header);
    }

    /// <summary>The header at the front of bytes, if there is a valid one whose batch they hold as a whole.</summary>
    public static bool TryReadHeader(ReadOnlySpan<byte> bytes, out BatchView header) =>
        IsHeader(bytes[..Math.Min(bytes.Length, BatchLayout.MaxHeaderSize)], bytes.Length, out header);

    /// <summary>Whether bytes begin with a valid header whose batch is at most so long.</summary>
    public static bool IsHeader(ReadOnlySpan<byte> bytes, long available, out BatchView header)
    {
        header = default;
        if (bytes.Length < BatchLayout.HeaderSize || bytes[BatchLayout.MagicAndVersion] != BatchLayout.Magic)
            return false;
        var view = new BatchView(bytes);
        int headerLength = view.HeaderLength, length = view.Length;
        if (headerLength < BatchLayout.HeaderSize || headerLength > bytes.Length || length < headerLength || length > available || length % BatchLayout.Alignment != 0)
            return false;
        header = new BatchView(bytes[..headerLength]);
        return header.VerifyHeader() && header.BaseOffset >= 0 && header.NextOffset > header.BaseOffset && header.RecordCount >= 0;
    }

    /// <summary>Whether bytes are the payload that a header's checksum is of.</summary>
    public static bool IsPayload(ReadOnlySpan<byte> payload, uint crc) => Mutation.NoCrc || Crc32C.Compute(payload) == crc;

    private static bool HasPayload(FileWindow window, Segment segment, long position, int length, int headerLength, uint crc)
    {
        ReadOnlySpan<byte> batch = window.Get(segment.FilePosition(position), length);
        return batch.Length == length && IsPayload(batch[headerLength..], crc);
    }
}

using LightQ.Protocol.Batches;
using LightQ.Protocol.Checksums;
using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>Walks the batches of a segment and stops at the first that is not what must come next.</summary>
internal static class BatchScan
{
    /// <summary>Walks from a place on.</summary>
    /// <param name="window">The segment's file.</param>
    /// <param name="segment">The segment.</param>
    /// <param name="start">
    /// Where the first batch begins, what offset it must have and what checksum it must refer to.
    /// </param>
    /// <param name="limit">Log position to stop at.</param>
    /// <param name="payloads">Whether payload checksums are verified too; no reader uses that of a gap.</param>
    /// <param name="visitor">Gets every valid header.</param>
    /// <returns>Where the valid batches end.</returns>
    public static LogEnd Run(
        FileWindow window,
        Segment segment,
        LogEnd start,
        long limit,
        bool payloads,
        IRecoveredBatchVisitor? visitor = null
    )
    {
        LogEnd at = start with { Ordinal = segment.Header.Ordinal };
        while (TryNext(window, segment, limit, payloads, visitor, ref at))
        {
            // The batch is the one that must follow.
        }
        return at;
    }

    /// <summary>Goes behind one batch, as <see cref="Run"/> does.</summary>
    /// <returns>False when the batch is not what must come next, or the limit is reached.</returns>
    public static bool TryNext(
        FileWindow window,
        Segment segment,
        long limit,
        bool payloads,
        IRecoveredBatchVisitor? visitor,
        ref LogEnd at
    )
    {
        if (!TryFollow(window, segment, limit, at, out BatchView header, out LogEnd next))
            return false;
        visitor?.OnBatch(header);
        if (payloads && !HasPayload(window, segment, at.Position, header))
            return false;
        segment.Index?.Note(at.Offset, next.AppendTime, at.Position);
        at = next;
        return true;
    }

    /// <summary>Goes behind one batch even if its payload is wrong.</summary>
    /// <param name="window">The segment's file.</param>
    /// <param name="segment">The segment.</param>
    /// <param name="limit">Log position to stop at.</param>
    /// <param name="at">Where it begins; then where the next one begins.</param>
    /// <param name="proven">
    /// Everything below this offset had been synced when the batch was appended; -1 if it does not say.
    /// </param>
    /// <param name="isWhole">Whether its payload is what was written.</param>
    /// <returns>False when the header is not what must come next, or the limit is reached.</returns>
    public static bool TryPass(
        FileWindow window,
        Segment segment,
        long limit,
        ref LogEnd at,
        out long proven,
        out bool isWhole
    )
    {
        (proven, isWhole) = (-1, false);
        if (!TryFollow(window, segment, limit, at, out BatchView header, out LogEnd next))
            return false;
        proven = ProvenBy(header);
        isWhole = HasPayload(window, segment, at.Position, header);
        segment.Index?.Note(at.Offset, next.AppendTime, at.Position);
        at = next;
        return true;
    }

    /// <summary>
    /// Everything below this offset had been synced when the batch was appended; -1 if its header does not say.
    /// </summary>
    public static long ProvenBy(in BatchView header) =>
        header.DurableBack == uint.MaxValue ? -1 : header.BaseOffset - header.DurableBack;

    private static bool TryFollow(
        FileWindow window,
        Segment segment,
        long limit,
        in LogEnd at,
        out BatchView header,
        out LogEnd next
    )
    {
        next = default;
        if (!TryReadHeader(window, segment, at.Position, limit, out header))
            return false;
        if (header.BaseOffset != at.Offset || header.PreviousCrc != at.ChainCrc || header.AppendTime < at.AppendTime)
            return false;
        next = new LogEnd(
            at.Position + header.Length,
            header.NextOffset,
            header.AppendTime,
            at.Ordinal,
            header.HeaderCrc
        );
        return true;
    }

    /// <summary>
    /// The header at a log position, if this log appended a batch there and it ends at or before the limit.
    /// </summary>
    public static bool TryReadHeader(
        FileWindow window,
        Segment segment,
        long position,
        long limit,
        out BatchView header
    )
    {
        header = default;
        int most = (int)Math.Min(BatchLayout.MaxHeaderSize, limit - position);
        if (most < BatchLayout.HeaderSize)
            return false;
        long filePosition = segment.FilePosition(position);
        return IsHeader(window.Get(filePosition, most), limit - position, out header)
            && segment.Header.Key.Verify(segment.Header.Ordinal, filePosition, header);
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
        int headerLength = view.HeaderLength,
            length = view.Length;
        if (
            headerLength < BatchLayout.HeaderSize
            || headerLength > bytes.Length
            || length < headerLength
            || length > available
            || length % BatchLayout.Alignment != 0
        )
        {
            return false;
        }

        header = new BatchView(bytes[..headerLength]);
        return header.VerifyHeader()
            && header.BaseOffset >= 0
            && header.NextOffset > header.BaseOffset
            && header.RecordCount >= 0;
    }

    /// <summary>Whether bytes are the payload that a header's checksum is of.</summary>
    public static bool IsPayload(ReadOnlySpan<byte> payload, uint crc) =>
        Mutation.NoCrc || Crc32C.Compute(payload) == crc;

    /// <summary>Reads the payload, which ends the header's view. No reader uses the payload of a gap.</summary>
    private static bool HasPayload(FileWindow window, Segment segment, long position, in BatchView header)
    {
        if (header.Kind == BatchKind.Gap)
            return true;
        (int length, int headerLength, uint crc) = (header.Length, header.HeaderLength, header.PayloadCrc);
        ReadOnlySpan<byte> batch = window.Get(segment.FilePosition(position), length);
        return batch.Length == length && IsPayload(batch[headerLength..], crc);
    }
}

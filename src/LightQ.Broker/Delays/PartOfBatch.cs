using System.Buffers;
using System.IO.Compression;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Broker.Delays;

/// <summary>Makes of a delayed batch one without the messages that are cancelled.</summary>
internal static class PartOfBatch
{
    /// <summary>
    /// Copies what is left, or as much of it as one batch takes: compressed anew, it may be longer than it was.
    /// </summary>
    /// <param name="batch">The batch, or a copy of it; its checksums hold.</param>
    /// <param name="first">Where it was published.</param>
    /// <param name="without">The messages to leave out, by the offsets at which they were published.</param>
    /// <param name="most">How long the new batch may be, in bytes.</param>
    /// <param name="length">The new batch's length.</param>
    /// <param name="part">
    /// The messages of the new batch, by the offsets at which they were published, where it has not all; null where it
    /// has.
    /// </param>
    /// <returns>Memory of the pool; null when the batch's records are damaged.</returns>
    public static byte[]? Without(
        in BatchView batch,
        long first,
        IReadOnlySet<long> without,
        int most,
        out int length,
        out IReadOnlyList<long>? part
    )
    {
        (length, part) = (0, null);
        var inflater = new BatchInflater(ProtocolLimits.InflatedBatchBytes);
        try
        {
            if (batch.Codec == BatchCodec.None)
                return Copy(batch, batch, first, without, most, out length, out part);
            return inflater.TryInflate(batch)
                ? Copy(
                    batch,
                    new BatchView(inflater.Memory.AsSpan(0, inflater.Length)),
                    first,
                    without,
                    most,
                    out length,
                    out part
                )
                : null;
        }
        catch (ProtocolException)
        {
            return null;
        }
        finally
        {
            inflater.Return();
        }
    }

    private static byte[] Copy(
        in BatchView stored,
        in BatchView inflated,
        long first,
        IReadOnlySet<long> without,
        int most,
        out int length,
        out IReadOnlyList<long>? part
    )
    {
        byte[] copy = ArrayPool<byte>.Shared.Rent(inflated.Length + BatchLayout.Alignment);
        int header = stored.HeaderLength,
            end = header,
            fitting = 0,
            fittingEnd = header;
        stored.Bytes[..header].CopyTo(copy);
        var messages = new List<long>();
        foreach (RecordView record in inflated.Records)
        {
            long message = first + record.Offset - stored.BaseOffset;
            if (without.Contains(message))
                continue;
            end += RecordWriter.Write(
                copy.AsSpan(end),
                record.Body,
                record.Key,
                record.HasKey,
                record.HeaderBytes,
                record.IsTombstone
            );
            messages.Add(message);
            if (BatchLayout.Align(end) <= most)
                (fitting, fittingEnd) = (messages.Count, end);
        }
        part = null;
        Span<byte> records = copy.AsSpan(header, end - header);
        if (stored.Codec != BatchCodec.None && TryCompress(stored.Codec, records, most - header, out int payload))
        {
            length = BatchWriter.Refill(copy, payload, messages.Count, records.Length, stored.Codec);
            return copy;
        }
        if (fitting < messages.Count)
            part = messages[..fitting];
        int bytes = fittingEnd - header;
        length = BatchWriter.Refill(copy, bytes, fitting, bytes, BatchCodec.None);
        return copy;
    }

    /// <summary>Compresses records in their place, if they become short enough.</summary>
    private static bool TryCompress(BatchCodec codec, Span<byte> records, int most, out int payload)
    {
        payload = 0;
        most = Math.Min(most - BatchLayout.Alignment, records.Length);
        if (most <= 0)
            return false;
        byte[] compressed = ArrayPool<byte>.Shared.Rent(most);
        // The best level takes half a minute for the longest batch.
        bool fits =
            BatchCompression.TryCompress(
                codec,
                CompressionLevel.Fastest,
                records,
                compressed.AsSpan(0, most),
                out payload
            )
            || BatchCompression.TryCompress(
                codec,
                CompressionLevel.Optimal,
                records,
                compressed.AsSpan(0, most),
                out payload
            );
        if (fits)
            compressed.AsSpan(0, payload).CopyTo(records);
        ArrayPool<byte>.Shared.Return(compressed);
        return fits;
    }
}

using System.Buffers;
using System.IO.Compression;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Broker.Delays;

/// <summary>Makes of a delayed batch one without the messages that are cancelled.</summary>
internal static class PartOfBatch
{
    /// <summary>Copies what is left.</summary>
    /// <param name="batch">The batch, or a copy of it; its checksums hold.</param>
    /// <param name="first">Where it was published.</param>
    /// <param name="cancelled">The messages to leave out, by the offsets at which they were published.</param>
    /// <param name="length">The new batch's length.</param>
    /// <returns>Memory of the pool; null when the batch's records are damaged.</returns>
    public static byte[]? Without(in BatchView batch, long first, long[] cancelled, out int length)
    {
        length = 0;
        var inflater = new BatchInflater(ProtocolLimits.InflatedBatchBytes);
        try
        {
            if (batch.Codec == BatchCodec.None)
                return Copy(batch, batch, first, cancelled, out length);
            return inflater.TryInflate(batch)
                ? Copy(batch, new BatchView(inflater.Memory.AsSpan(0, inflater.Length)), first, cancelled, out length)
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

    private static byte[] Copy(in BatchView stored, in BatchView inflated, long first, long[] cancelled, out int length)
    {
        var without = cancelled.ToHashSet();
        byte[] copy = ArrayPool<byte>.Shared.Rent(inflated.Length + BatchLayout.Alignment);
        int header = stored.HeaderLength,
            end = header,
            count = 0;
        stored.Bytes[..header].CopyTo(copy);
        foreach (RecordView record in inflated.Records)
        {
            if (without.Contains(first + record.Offset - stored.BaseOffset))
                continue;
            end += RecordWriter.Write(
                copy.AsSpan(end),
                record.Body,
                record.Key,
                record.HasKey,
                record.HeaderBytes,
                record.IsTombstone
            );
            count++;
        }
        int bytes = end - header;
        (BatchCodec codec, int payload) = (stored.Codec, bytes);
        if (codec != BatchCodec.None)
        {
            byte[] compressed = ArrayPool<byte>.Shared.Rent(bytes);
            bool fits = BatchCompression.TryCompress(
                codec,
                CompressionLevel.Fastest,
                copy.AsSpan(header, bytes),
                compressed.AsSpan(0, bytes),
                out payload
            );
            if (fits)
                compressed.AsSpan(0, payload).CopyTo(copy.AsSpan(header));
            else
                (codec, payload) = (BatchCodec.None, bytes);
            ArrayPool<byte>.Shared.Return(compressed);
        }
        length = BatchWriter.Refill(copy, payload, count, bytes, codec);
        return copy;
    }
}

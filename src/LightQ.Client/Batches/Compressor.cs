using System.Buffers;
using System.IO.Compression;
using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client.Batches;

/// <summary>Compresses a producer's batches in place, where that makes them shorter.</summary>
internal sealed class Compressor(BatchCodec codec, CompressionLevel level, int minimumBytes)
{
    public BatchCodec Codec => codec;

    /// <summary>The compressor that a producer's options ask for; null for none.</summary>
    public static Compressor? Create(ProducerOptions options) =>
        options.Compression == BatchCodec.None
            ? null
            : new Compressor(options.Compression, options.CompressionLevel, options.CompressionMinimumBytes);

    /// <summary>Replaces records by what compression makes of them.</summary>
    /// <returns>The new length; that of the records when they stay as they are.</returns>
    public int Compress(Span<byte> records)
    {
        // A batch's length is a multiple of 8: less than that is not worth a reader's time.
        int most = records.Length - BatchLayout.Alignment;
        if (records.Length < minimumBytes || most <= 0 || records.Length > ProtocolLimits.InflatedBatchBytes)
            return records.Length;
        byte[] payload = ArrayPool<byte>.Shared.Rent(most);
        try
        {
            if (!BatchCompression.TryCompress(codec, level, records, payload.AsSpan(0, most), out int length))
                return records.Length;
            payload.AsSpan(0, length).CopyTo(records);
            return length;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(payload);
        }
    }
}

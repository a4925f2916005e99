using System.Buffers;
using System.IO.Compression;
using System.Numerics;

namespace LightQ.Protocol.Batches;

/// <summary>Compresses the records of a batch and inflates them again. Thread-safe.</summary>
/// <remarks>
/// Brotli allocates no managed memory. Deflate allocates a few hundred bytes a batch, for the framework's stream.
/// </remarks>
public static class BatchCompression
{
    // What Deflate makes of bytes that do not compress: 5 more for every block of 16 KiB or so.
    private const int DeflateSlack = 1024;
    private const int MinBrotliWindow = 10;
    private const int MaxBrotliWindow = 22;

    /// <summary>
    /// Compresses records into a payload, padded so that it keeps to <see cref="ProtocolLimits.InflationRatio"/>.
    /// </summary>
    /// <param name="codec">The codec to compress with.</param>
    /// <param name="level">How hard the codec tries.</param>
    /// <param name="records">The records.</param>
    /// <param name="payload">Where the payload is written. A payload that does not fit is not needed.</param>
    /// <param name="written">The payload's length.</param>
    /// <returns>
    /// False when the payload does not fit, or there are more records than a compressed batch may have.
    /// </returns>
    public static bool TryCompress(
        BatchCodec codec,
        CompressionLevel level,
        ReadOnlySpan<byte> records,
        Span<byte> payload,
        out int written
    )
    {
        written = 0;
        if (records.Length > ProtocolLimits.InflatedBatchBytes)
            return false;
        bool fits = codec switch
        {
            BatchCodec.Brotli => BrotliEncoder.TryCompress(
                records,
                payload,
                out written,
                QualityOf(level),
                WindowFor(records.Length)
            ),
            BatchCodec.Deflate => TryDeflate(level, records, payload, out written),
            _ => throw new ArgumentOutOfRangeException(nameof(codec), codec, "Brotli or Deflate."),
        };
        int least = (records.Length + ProtocolLimits.InflationRatio - 1) / ProtocolLimits.InflationRatio;
        if (!fits || least > payload.Length)
            return false;
        if (written < least)
        {
            payload[written..least].Clear();
            written = least;
        }
        return true;
    }

    /// <summary>Inflates a payload. Never writes beyond <paramref name="records"/>.</summary>
    /// <param name="codec">The codec that compressed it.</param>
    /// <param name="payload">The payload, padding included.</param>
    /// <param name="records">Where the records are written: as many bytes as the header says.</param>
    /// <returns>False when the codec is unknown, or the payload does not inflate to exactly that many bytes.</returns>
    public static bool TryInflate(BatchCodec codec, ReadOnlySpan<byte> payload, Span<byte> records) =>
        codec switch
        {
            BatchCodec.Brotli => BrotliDecoder.TryDecompress(payload, records, out int written)
                && written == records.Length,
            BatchCodec.Deflate => TryInflate(payload, records),
            _ => false,
        };

    private static int QualityOf(CompressionLevel level) =>
        level switch
        {
            CompressionLevel.NoCompression => 0,
            CompressionLevel.Fastest => 1,
            CompressionLevel.SmallestSize => 11,
            _ => 4,
        };

    private static int WindowFor(int length) =>
        Math.Clamp(BitOperations.Log2((uint)length) + 1, MinBrotliWindow, MaxBrotliWindow);

    private static bool TryDeflate(
        CompressionLevel level,
        ReadOnlySpan<byte> records,
        Span<byte> payload,
        out int written
    )
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(records.Length + (records.Length / DeflateSlack) + DeflateSlack);
        try
        {
            using var target = new MemoryStream(buffer);
            using (var deflate = new DeflateStream(target, level, leaveOpen: true))
                deflate.Write(records);
            written = (int)target.Position;
            return buffer.AsSpan(0, written).TryCopyTo(payload);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private static bool TryInflate(ReadOnlySpan<byte> payload, Span<byte> records)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(payload.Length);
        try
        {
            payload.CopyTo(buffer);
            using var source = new MemoryStream(buffer, 0, payload.Length, writable: false);
            using var inflate = new DeflateStream(source, CompressionMode.Decompress);
            Span<byte> more = stackalloc byte[1];
            return inflate.ReadAtLeast(records, records.Length, throwOnEndOfStream: false) == records.Length
                && inflate.Read(more) == 0;
        }
        catch (InvalidDataException)
        {
            return false;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }
}

using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Checksums;

namespace LightQ.Tests.Fuzzing;

/// <summary>Makes checksums right again after a mutation.</summary>
internal static class Seals
{
    /// <summary>A run of batches, as far as their lengths go.</summary>
    public static void Batches(byte[] buffer, int length) => Batches(buffer.AsSpan(0, length));

    /// <summary>A run of batches, as far as their lengths go.</summary>
    public static void Batches(Span<byte> run) => Chain(run, null);

    /// <summary>
    /// The header of a segment in the first 96 bytes, and the batches behind it, each of which refers to what is before
    /// it.
    /// </summary>
    public static void Segment(byte[] buffer, int length)
    {
        if (length < StoredSegment.HeaderSize)
            return;
        Split(buffer.AsSpan(0, StoredSegment.HeaderSize));
        Chain(
            buffer.AsSpan(StoredSegment.HeaderSize, length - StoredSegment.HeaderSize),
            BinaryPrimitives.ReadUInt32LittleEndian(buffer.AsSpan(12))
        );
    }

    /// <summary>Bytes whose checksum lies at 12 and is of all the others.</summary>
    public static void Split(Span<byte> bytes)
    {
        if (bytes.Length >= 16)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(
                bytes[12..],
                Crc32C.Append(Crc32C.Compute(bytes[..12]), bytes[16..])
            );
        }
    }

    /// <summary>A file whose checksum lies at 12 and is of what follows from <paramref name="from"/> on.</summary>
    public static void Rest(byte[] buffer, int length, int from)
    {
        if (length >= from)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(
                buffer.AsSpan(12),
                Crc32C.Compute(buffer.AsSpan(from, length - from))
            );
        }
    }

    /// <summary>A line of the audit log, whose hash stands at its end.</summary>
    public static void AuditLine(byte[] buffer, int length)
    {
        const int Tail = 9 + (2 * SHA256.HashSizeInBytes) + 2;
        if (length > Tail)
        {
            Encoding.ASCII.GetBytes(
                $",\"hash\":\"{Convert.ToHexStringLower(SHA256.HashData(buffer.AsSpan(0, length - Tail)))}\"}}",
                buffer.AsSpan(length - Tail)
            );
        }
    }

    private static void Chain(Span<byte> left, uint? previous)
    {
        while (left.Length >= BatchLayout.HeaderSize)
        {
            int length = BinaryPrimitives.ReadInt32LittleEndian(left);
            if (length < BatchLayout.HeaderSize || length > left.Length)
                return;
            Span<byte> batch = left[..length];
            int headerLength = Math.Clamp(
                (int)BinaryPrimitives.ReadUInt16LittleEndian(batch[BatchLayout.HeaderLength..]),
                BatchLayout.HeaderSize,
                length
            );
            BinaryPrimitives.WriteUInt32LittleEndian(
                batch[BatchLayout.PayloadCrc..],
                Crc32C.Compute(batch[headerLength..])
            );
            if (previous is { } chain)
                BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.PreviousCrc..], chain);
            uint crc = BatchView.ComputeHeaderCrc(batch[..headerLength]);
            BinaryPrimitives.WriteUInt32LittleEndian(batch[BatchLayout.HeaderCrc..], crc);
            previous = previous is null ? null : crc;
            left = left[length..];
        }
    }
}

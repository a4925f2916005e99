using System.Buffers;
using System.Buffers.Binary;

namespace LightQ.Protocol.Batches;

/// <summary>
/// Inflates one compressed batch at a time into pooled memory: the result is the batch without compression. Not
/// thread-safe.
/// </summary>
/// <param name="maxBytes">Most bytes that the records of a batch may have.</param>
public sealed class BatchInflater(int maxBytes)
{
    /// <summary>The inflated batch, from its first byte on.</summary>
    public byte[] Memory { get; private set; } = [];

    /// <summary>The inflated batch's length.</summary>
    public int Length { get; private set; }

    /// <summary>Inflates a batch. It replaces the one that was inflated before.</summary>
    /// <param name="batch">A whole batch whose checksums hold.</param>
    /// <returns>False when its records would be longer than is allowed, or are damaged.</returns>
    public bool TryInflate(in BatchView batch)
    {
        Return();
        int headerLength = batch.HeaderLength,
            bytes = batch.UncompressedLength;
        if (headerLength < BatchLayout.HeaderSize || headerLength > batch.Length)
            return false;
        ReadOnlySpan<byte> payload = batch.Payload;
        if (bytes > maxBytes || !BatchValidator.IsInflatable(payload.Length, bytes))
            return false;
        int end = headerLength + bytes;
        Length = BatchLayout.Align(end);
        Memory = ArrayPool<byte>.Shared.Rent(Length);
        Span<byte> inflated = Memory.AsSpan(0, Length);
        if (!BatchCompression.TryInflate(batch.Codec, payload, inflated[headerLength..end]))
            return false;
        batch.Bytes[..headerLength].CopyTo(inflated);
        inflated[end..].Clear();
        BinaryPrimitives.WriteInt32LittleEndian(inflated, Length);
        BinaryPrimitives.WriteUInt32LittleEndian(inflated[BatchLayout.Flags..], batch.Flags & ~BatchLayout.CodecMask);
        return true;
    }

    /// <summary>Returns the memory to the pool.</summary>
    public void Return()
    {
        if (Memory.Length != 0)
            ArrayPool<byte>.Shared.Return(Memory);
        Memory = [];
    }
}

using System.Buffers.Binary;

namespace LightQ.Disruptor;

/// <summary>Entries for payloads of any size: an 8-byte header, the payload, zeros up to a multiple of 8.</summary>
/// <remarks>
/// <code>
///  0 u32 entryLength     written by Publish
///  4 i32 payloadLength
///  8 payload, then zeros
/// </code>
/// </remarks>
/// <example>
/// <code>
/// ring.TryPublishPayload("hello"u8);
/// // reading
/// foreach (ReadOnlySpan&lt;byte&gt; entry in run) { Handle(PayloadEntry.Payload(entry)); }
/// </code>
/// </example>
public static class PayloadEntry
{
    /// <summary>Bytes before the payload.</summary>
    public const int HeaderLength = 8;

    /// <summary>The length of the entry that holds a payload.</summary>
    /// <param name="payloadLength">Bytes, from 0 to 1 GiB.</param>
    /// <returns>Bytes, a multiple of 8.</returns>
    /// <exception cref="ArgumentOutOfRangeException">Negative, or above 1 GiB.</exception>
    public static int LengthFor(int payloadLength)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(
            (uint)payloadLength,
            (uint)RingMemory.MaxCapacity,
            nameof(payloadLength)
        );
        return (HeaderLength + payloadLength + EntryWord.Alignment - 1) & -EntryWord.Alignment;
    }

    /// <summary>Claims room for a payload. Never blocks.</summary>
    /// <param name="ring">The ring.</param>
    /// <param name="payloadLength">Bytes, from 0.</param>
    /// <param name="claim">The claim, to be published or aborted.</param>
    /// <param name="payload">Where to write the payload, all of it.</param>
    /// <returns>As <see cref="ByteRing.TryClaim"/>.</returns>
    /// <exception cref="ArgumentOutOfRangeException">Negative, or above 1 GiB.</exception>
    public static ClaimResult TryClaimPayload(
        this ByteRing ring,
        int payloadLength,
        out RingClaim claim,
        out Span<byte> payload
    )
    {
        ArgumentNullException.ThrowIfNull(ring);
        ClaimResult result = ring.TryClaim(LengthFor(payloadLength), out claim);
        if (result != ClaimResult.Claimed)
        {
            payload = default;
            return result;
        }

        Span<byte> entry = claim.Span;
        // The zeros after the payload; the header or the payload then overwrites the rest.
        entry[^EntryWord.Alignment..].Clear();
        BinaryPrimitives.WriteInt32LittleEndian(entry[4..], payloadLength);
        payload = entry.Slice(HeaderLength, payloadLength);
        return result;
    }

    /// <summary>Copies a payload into the ring and publishes it. Never blocks.</summary>
    /// <param name="ring">The ring.</param>
    /// <param name="payload">The bytes.</param>
    /// <returns><see cref="ClaimResult.Claimed"/> if it was published; otherwise the reason.</returns>
    public static ClaimResult TryPublishPayload(this ByteRing ring, ReadOnlySpan<byte> payload)
    {
        ClaimResult result = ring.TryClaimPayload(payload.Length, out RingClaim claim, out Span<byte> room);
        if (result == ClaimResult.Claimed)
        {
            payload.CopyTo(room);
            ring.Publish(claim);
        }

        return result;
    }

    /// <summary>The payload of an entry that was claimed with <see cref="TryClaimPayload"/>.</summary>
    /// <param name="entry">The whole entry.</param>
    /// <returns>The payload in place.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The entry does not hold what its header says.</exception>
    public static ReadOnlySpan<byte> Payload(ReadOnlySpan<byte> entry) =>
        entry.Slice(HeaderLength, BinaryPrimitives.ReadInt32LittleEndian(entry[4..]));
}

using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace LightQ.Protocol.Records;

/// <summary>
/// Writes records. The caller checks lengths; a span that is too short throws <see cref="ArgumentException"/>.
/// </summary>
public static class RecordWriter
{
    /// <summary>Bytes of a record with these parts.</summary>
    public static int SizeOf(int bodyLength, int keyLength = 0, int headersLength = 0) =>
        RecordLayout.FixedSize + keyLength + headersLength + bodyLength;

    /// <summary>Writes a record without key and headers.</summary>
    /// <returns>Bytes written.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Write(Span<byte> destination, ReadOnlySpan<byte> body)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(destination, (uint)body.Length | ((ulong)RecordLayout.NoKey << 32));
        body.CopyTo(destination[RecordLayout.FixedSize..]);
        return RecordLayout.FixedSize + body.Length;
    }

    /// <summary>Writes a record with key and headers.</summary>
    /// <param name="destination">Where the record is written.</param>
    /// <param name="body">The body; ignored for a tombstone.</param>
    /// <param name="key">The key, at most 65,534 bytes; ignored unless <paramref name="hasKey"/>.</param>
    /// <param name="hasKey">Whether there is a key.</param>
    /// <param name="headers">The headers as <see cref="WriteHeader"/> wrote them, at most 65,535 bytes.</param>
    /// <param name="isTombstone">Whether the record has no body.</param>
    /// <returns>Bytes written.</returns>
    /// <exception cref="ArgumentOutOfRangeException">
    /// The key has 65,535 bytes, the length that means no key.
    /// </exception>
    /// <exception cref="OverflowException">The key or the headers are longer still.</exception>
    public static int Write(
        Span<byte> destination,
        ReadOnlySpan<byte> body,
        ReadOnlySpan<byte> key,
        bool hasKey,
        ReadOnlySpan<byte> headers,
        bool isTombstone = false
    )
    {
        if (!hasKey)
            key = default;
        if (isTombstone)
            body = default;
        // 0xFFFF would read back as "no key".
        ArgumentOutOfRangeException.ThrowIfEqual(key.Length, RecordLayout.NoKey);
        BinaryPrimitives.WriteUInt32LittleEndian(destination, isTombstone ? RecordLayout.Tombstone : (uint)body.Length);
        BinaryPrimitives.WriteUInt16LittleEndian(
            destination[4..],
            hasKey ? checked((ushort)key.Length) : (ushort)RecordLayout.NoKey
        );
        BinaryPrimitives.WriteUInt16LittleEndian(destination[6..], checked((ushort)headers.Length));
        Span<byte> rest = destination[RecordLayout.FixedSize..];
        key.CopyTo(rest);
        headers.CopyTo(rest[key.Length..]);
        body.CopyTo(rest[(key.Length + headers.Length)..]);
        return SizeOf(body.Length, key.Length, headers.Length);
    }

    /// <summary>Bytes that <see cref="WriteHeader"/> needs.</summary>
    public static int SizeOfHeader(int nameLength, int valueLength) => 1 + nameLength + sizeof(ushort) + valueLength;

    /// <summary>Bytes that <see cref="WriteWellKnownHeader"/> needs.</summary>
    public static int SizeOfWellKnownHeader(int valueLength) => 1 + 1 + sizeof(ushort) + valueLength;

    /// <summary>Writes one header whose name is a <see cref="WellKnownHeader"/>.</summary>
    /// <param name="destination">Where the header is written.</param>
    /// <param name="id">The id that stands for the name; not 0.</param>
    /// <param name="value">At most 65,535 bytes.</param>
    /// <returns>Bytes written.</returns>
    public static int WriteWellKnownHeader(Span<byte> destination, byte id, ReadOnlySpan<byte> value)
    {
        ArgumentOutOfRangeException.ThrowIfZero(id);
        destination[0] = 0;
        destination[1] = id;
        BinaryPrimitives.WriteUInt16LittleEndian(destination[2..], checked((ushort)value.Length));
        value.CopyTo(destination[(2 + sizeof(ushort))..]);
        return SizeOfWellKnownHeader(value.Length);
    }

    /// <summary>Writes one header.</summary>
    /// <param name="destination">Where the header is written.</param>
    /// <param name="name">1 to 255 bytes of UTF-8.</param>
    /// <param name="value">At most 65,535 bytes.</param>
    /// <returns>Bytes written.</returns>
    public static int WriteHeader(Span<byte> destination, ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        ArgumentOutOfRangeException.ThrowIfZero(name.Length);
        destination[0] = checked((byte)name.Length);
        name.CopyTo(destination[1..]);
        BinaryPrimitives.WriteUInt16LittleEndian(destination[(1 + name.Length)..], checked((ushort)value.Length));
        value.CopyTo(destination[(1 + name.Length + sizeof(ushort))..]);
        return SizeOfHeader(name.Length, value.Length);
    }
}

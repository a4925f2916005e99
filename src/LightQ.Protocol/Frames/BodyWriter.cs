using System.Buffers.Binary;
using System.Text;

namespace LightQ.Protocol.Frames;

/// <summary>
/// Writes a frame body's fields, little-endian, one after the other into a span that is large enough.
/// </summary>
public ref struct BodyWriter
{
    private readonly Span<byte> _span;

    /// <summary>Starts at the beginning of <paramref name="span"/>.</summary>
    public BodyWriter(Span<byte> span) => _span = span;

    /// <summary>Bytes written so far.</summary>
    public int Written { get; private set; }

    /// <summary>Writes one byte.</summary>
    public void WriteByte(byte value) => _span[Written++] = value;

    /// <summary>Writes a u16.</summary>
    public void WriteUInt16(ushort value)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(_span[Written..], value);
        Written += sizeof(ushort);
    }

    /// <summary>Writes a u32.</summary>
    public void WriteUInt32(uint value)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(_span[Written..], value);
        Written += sizeof(uint);
    }

    /// <summary>Writes a u64.</summary>
    public void WriteUInt64(ulong value)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(_span[Written..], value);
        Written += sizeof(ulong);
    }

    /// <summary>Writes an i64.</summary>
    public void WriteInt64(long value) => WriteUInt64((ulong)value);

    /// <summary>Writes the 16 bytes of a <see cref="Guid"/>, in its own (mixed-endian) byte order.</summary>
    public void WriteGuid(Guid value)
    {
        value.TryWriteBytes(_span[Written..]);
        Written += 16;
    }

    /// <summary>Writes bytes as they are.</summary>
    public void WriteBytes(ReadOnlySpan<byte> value)
    {
        value.CopyTo(_span[Written..]);
        Written += value.Length;
    }

    /// <summary>Writes a string: u16 length in bytes, then UTF-8.</summary>
    /// <exception cref="ArgumentException">The string has more than 65,535 bytes of UTF-8.</exception>
    public void WriteString(string value)
    {
        int bytes = Encoding.UTF8.GetByteCount(value);
        if (bytes > ProtocolLimits.StringBytes)
        {
            throw new ArgumentException(
                $"A string in a frame has at most {ProtocolLimits.StringBytes} bytes, not {bytes}.",
                nameof(value)
            );
        }

        WriteUInt16((ushort)bytes);
        Written += Encoding.UTF8.GetBytes(value, _span[Written..]);
    }

    /// <summary>Bytes that <see cref="WriteString"/> needs for <paramref name="value"/>.</summary>
    public static int SizeOf(string value) => sizeof(ushort) + Encoding.UTF8.GetByteCount(value);
}

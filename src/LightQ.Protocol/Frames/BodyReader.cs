using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Text;

namespace LightQ.Protocol.Frames;

/// <summary>
/// Reads a frame body's fields one after the other. A field that is cut off throws a <see cref="ProtocolException"/>.
/// </summary>
public ref struct BodyReader
{
    private static readonly UTF8Encoding StrictUtf8 = new(
        encoderShouldEmitUTF8Identifier: false,
        throwOnInvalidBytes: true
    );
    private ReadOnlySpan<byte> _left;

    /// <summary>Starts at the beginning of <paramref name="body"/>.</summary>
    public BodyReader(ReadOnlySpan<byte> body) => _left = body;

    /// <summary>Bytes not yet read.</summary>
    public readonly int Remaining => _left.Length;

    /// <summary>Reads one byte.</summary>
    public byte ReadByte() => Take(1)[0];

    /// <summary>Reads a u16.</summary>
    public ushort ReadUInt16() => BinaryPrimitives.ReadUInt16LittleEndian(Take(sizeof(ushort)));

    /// <summary>Reads a u32.</summary>
    public uint ReadUInt32() => BinaryPrimitives.ReadUInt32LittleEndian(Take(sizeof(uint)));

    /// <summary>Reads a u64.</summary>
    public ulong ReadUInt64() => BinaryPrimitives.ReadUInt64LittleEndian(Take(sizeof(ulong)));

    /// <summary>Reads an i64.</summary>
    public long ReadInt64() => (long)ReadUInt64();

    /// <summary>Reads the 16 bytes of a <see cref="Guid"/>.</summary>
    public Guid ReadGuid() => new(Take(16));

    /// <summary>Reads <paramref name="count"/> bytes; the span is valid as long as the body's memory is.</summary>
    public ReadOnlySpan<byte> ReadBytes(int count) => Take(count);

    /// <summary>Reads a string: u16 length in bytes, then valid UTF-8.</summary>
    public string ReadString()
    {
        ReadOnlySpan<byte> bytes = Take(ReadUInt16());
        try
        {
            return StrictUtf8.GetString(bytes);
        }
        catch (DecoderFallbackException)
        {
            throw new ProtocolException(ErrorCode.MalformedFrame, "A string in a frame is not valid UTF-8.");
        }
    }

    /// <summary>
    /// Reads a byte that must be a defined value of <typeparamref name="T"/>, an enum of underlying type byte.
    /// </summary>
    public T ReadEnum<T>()
        where T : struct, Enum
    {
        byte raw = ReadByte();
        T value = Unsafe.BitCast<byte, T>(raw);
        return Enum.IsDefined(value)
            ? value
            : throw new ProtocolException(ErrorCode.MalformedFrame, $"{raw} is not a {typeof(T).Name}.");
    }

    private ReadOnlySpan<byte> Take(int count)
    {
        if ((uint)count > (uint)_left.Length)
        {
            throw new ProtocolException(
                ErrorCode.MalformedFrame,
                $"A frame body ends {count - _left.Length} bytes short."
            );
        }

        ReadOnlySpan<byte> taken = _left[..count];
        _left = _left[count..];
        return taken;
    }
}

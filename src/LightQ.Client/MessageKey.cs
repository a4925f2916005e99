using System.Buffers;
using System.Text;
using LightQ.Protocol;
using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>A message's key: text, which is sent as UTF-8, or bytes. The default value is "no key".</summary>
/// <remarks>
/// Converts implicitly from <see cref="string"/>, <see cref="byte"/>[] and <see cref="ReadOnlyMemory{T}"/>; null is "no
/// key". At most 65,534 bytes.
/// </remarks>
public readonly struct MessageKey
{
    private const int StackBytes = 256;

    private readonly string? _text;
    private readonly ReadOnlyMemory<byte> _bytes;

    /// <summary>A key of text.</summary>
    /// <param name="text">The text; null for no key.</param>
    public MessageKey(string? text)
    {
        _text = text;
        HasValue = text is not null;
        ByteCount = text is null ? 0 : Encoding.UTF8.GetByteCount(text);
        Check();
    }

    /// <summary>A key of bytes, which are not copied before the message is published.</summary>
    /// <param name="bytes">The bytes; may be empty.</param>
    public MessageKey(ReadOnlyMemory<byte> bytes)
    {
        _bytes = bytes;
        HasValue = true;
        ByteCount = bytes.Length;
        Check();
    }

    private MessageKey(in MessageKey other, byte[] bytes) => (this, _bytes) = (other, bytes);

    /// <summary>Whether there is a key; it may be empty.</summary>
    public bool HasValue { get; }

    /// <summary>Its length in bytes.</summary>
    public int ByteCount { get; }

    /// <summary>Whether the message that goes with it is a tombstone, and has no body.</summary>
    internal bool IsBuried { get; private init; }

    /// <summary>A key of text.</summary>
    public static implicit operator MessageKey(string? text) => new(text);

    /// <summary>A key of bytes.</summary>
    public static implicit operator MessageKey(byte[]? bytes) => bytes is null ? default : new(bytes.AsMemory());

    /// <summary>A key of bytes.</summary>
    public static implicit operator MessageKey(ReadOnlyMemory<byte> bytes) => new(bytes);

    /// <summary>A key of text.</summary>
    public static MessageKey FromString(string? text) => text;

    /// <summary>A key of bytes.</summary>
    public static MessageKey FromBytes(ReadOnlyMemory<byte> bytes) => bytes;

    /// <summary>The key of a tombstone.</summary>
    internal MessageKey Bury() => this with { IsBuried = true };

    /// <summary>The key, with bytes of its own.</summary>
    internal MessageKey Copy() => new(this, _bytes.ToArray());

    /// <summary>The partition that it belongs to.</summary>
    internal int PartitionOf(int partitionCount)
    {
        if (_text is null)
            return KeyRouting.PartitionOf(_bytes.Span, partitionCount);
        byte[]? rented = ByteCount > StackBytes ? ArrayPool<byte>.Shared.Rent(ByteCount) : null;
        Span<byte> bytes = rented ?? stackalloc byte[StackBytes];
        int partition = KeyRouting.PartitionOf(bytes[..Encoding.UTF8.GetBytes(_text, bytes)], partitionCount);
        if (rented is not null)
            ArrayPool<byte>.Shared.Return(rented);
        return partition;
    }

    internal void CopyTo(Span<byte> destination)
    {
        if (_text is not null)
            Encoding.UTF8.GetBytes(_text, destination);
        else
            _bytes.Span.CopyTo(destination);
    }

    private void Check()
    {
        if (ByteCount > RecordLayout.MaxKeyLength)
            throw new ArgumentException($"A key has at most {RecordLayout.MaxKeyLength} bytes, not {ByteCount}.");
    }
}

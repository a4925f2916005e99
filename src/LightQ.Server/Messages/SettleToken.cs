using System.Buffers.Binary;
using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;

namespace LightQ.Server.Messages;

/// <summary>Names a message that was fetched, in base64url.</summary>
/// <remarks>
/// <code>
///  0  16  fetcher, random
/// 16   4  partition
/// 20   4  delivery
/// 24   8  offset
/// </code>
/// </remarks>
/// <param name="Fetcher">Who holds it.</param>
/// <param name="Partition">The partition.</param>
/// <param name="Delivery">The delivery it came in.</param>
/// <param name="Offset">The message; 0 or above.</param>
internal readonly record struct SettleToken(Guid Fetcher, uint Partition, uint Delivery, long Offset)
{
    private const int Size = 32;

    /// <summary>Reads one.</summary>
    public static bool TryParse([NotNullWhen(true)] string text, out SettleToken token)
    {
        token = default;
        if (text.Length != Base64Url.GetEncodedLength(Size))
            return false;
        Span<byte> bytes = stackalloc byte[Size];
        if (!Base64Url.IsValid(text) || !Base64Url.TryDecodeFromChars(text, bytes, out int length) || length != Size)
            return false;
        token = new SettleToken(
            new Guid(bytes[..16]),
            BinaryPrimitives.ReadUInt32BigEndian(bytes[16..]),
            BinaryPrimitives.ReadUInt32BigEndian(bytes[20..]),
            BinaryPrimitives.ReadInt64BigEndian(bytes[24..])
        );
        return token.Offset >= 0;
    }

    /// <inheritdoc/>
    public override string ToString()
    {
        Span<byte> bytes = stackalloc byte[Size];
        Fetcher.TryWriteBytes(bytes);
        BinaryPrimitives.WriteUInt32BigEndian(bytes[16..], Partition);
        BinaryPrimitives.WriteUInt32BigEndian(bytes[20..], Delivery);
        BinaryPrimitives.WriteInt64BigEndian(bytes[24..], Offset);
        return Base64Url.EncodeToString(bytes);
    }
}

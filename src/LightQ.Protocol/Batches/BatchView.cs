using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using LightQ.Protocol.Checksums;
using LightQ.Protocol.Records;

namespace LightQ.Protocol.Batches;

/// <summary>Reads the fields of one batch in place.</summary>
/// <remarks>
/// The span must hold at least a whole header. A view made by <see cref="TryRead"/> or <see cref="BatchRun"/> holds the
/// whole batch. <c>default</c> holds nothing: do not use its members. Nothing here verifies a checksum unless its name
/// says so. Valid as long as the memory behind it is.
/// </remarks>
public readonly ref struct BatchView
{
    private readonly ReadOnlySpan<byte> _bytes;

    /// <summary>Creates a view of <paramref name="bytes"/>: exactly one batch, or at least its header.</summary>
    /// <exception cref="ProtocolException">There are fewer than 96 bytes.</exception>
    public BatchView(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < BatchLayout.HeaderSize)
            throw TooShort();
        _bytes = bytes;
    }

    /// <summary>All the bytes of the view.</summary>
    public ReadOnlySpan<byte> Bytes => _bytes;

    /// <summary>Length of the whole batch, in bytes.</summary>
    public int Length => BinaryPrimitives.ReadInt32LittleEndian(_bytes);

    /// <summary>The header's checksum , as stored.</summary>
    public uint HeaderCrc => BinaryPrimitives.ReadUInt32LittleEndian(_bytes[BatchLayout.HeaderCrc..]);

    /// <summary>The payload's checksum , as stored.</summary>
    public uint PayloadCrc => BinaryPrimitives.ReadUInt32LittleEndian(_bytes[BatchLayout.PayloadCrc..]);

    /// <summary>Length of the header, extensions included, in bytes.</summary>
    public int HeaderLength => BinaryPrimitives.ReadUInt16LittleEndian(_bytes[BatchLayout.HeaderLength..]);

    /// <summary>The flags.</summary>
    public uint Flags => BinaryPrimitives.ReadUInt32LittleEndian(_bytes[BatchLayout.Flags..]);

    /// <summary>How the records are compressed; may be a number that is no <see cref="BatchCodec"/>.</summary>
    public BatchCodec Codec => (BatchCodec)(Flags & BatchLayout.CodecMask);

    /// <summary>When its messages are due, in unix microseconds; 0 for at once. Needs the whole header.</summary>
    public long DueAt => (Flags & BatchLayout.HasDueTime) == 0 ? 0 : ReadExtension(BatchExtension.DueTime, 0);

    /// <summary>
    /// When its messages expire, in unix microseconds; <see cref="long.MaxValue"/> for never. Needs the whole header.
    /// </summary>
    public long ExpiresAt =>
        (Flags & BatchLayout.HasExpiry) == 0 ? long.MaxValue : ReadExtension(BatchExtension.Expiry, long.MaxValue);

    /// <summary>
    /// For the delivery of a delayed batch, or with a due time a copy that replaces it: the offset at which the delayed
    /// batch was published. Otherwise -1. Needs the whole header.
    /// </summary>
    public long OriginOffset =>
        (Flags & (BatchLayout.HasOrigin | BatchLayout.HasDueTime)) switch
        {
            BatchLayout.HasOrigin => ReadExtension(BatchExtension.OriginOffset, -1),
            BatchLayout.HasOrigin | BatchLayout.HasDueTime => (long)BaseSequence,
            _ => -1,
        };

    /// <summary>The id of its only message, in UTF-8; empty when it has none. Needs the whole header.</summary>
    public ReadOnlySpan<byte> MessageId =>
        (Flags & BatchLayout.HasMessageId) == 0 ? default : FindExtension(BatchExtension.MessageId);

    /// <summary>The header's extensions.</summary>
    public ReadOnlySpan<byte> Extensions =>
        _bytes[BatchLayout.HeaderSize..Math.Clamp(HeaderLength, BatchLayout.HeaderSize, _bytes.Length)];

    /// <summary>What the batch holds.</summary>
    public BatchKind Kind => (BatchKind)((Flags >> 4) & 7);

    /// <summary>How many records it holds.</summary>
    public int RecordCount => BinaryPrimitives.ReadInt32LittleEndian(_bytes[BatchLayout.RecordCount..]);

    /// <summary>How many offsets it covers.</summary>
    public uint OffsetSpan => BinaryPrimitives.ReadUInt32LittleEndian(_bytes[BatchLayout.OffsetSpan..]);

    /// <summary>The records' length, without padding and before compression.</summary>
    public int UncompressedLength => BinaryPrimitives.ReadInt32LittleEndian(_bytes[BatchLayout.UncompressedLength..]);

    /// <summary>Offset of the first message.</summary>
    public long BaseOffset => BinaryPrimitives.ReadInt64LittleEndian(_bytes[BatchLayout.BaseOffset..]);

    /// <summary>The offset after that of the last message.</summary>
    public long NextOffset => BaseOffset + OffsetSpan;

    /// <summary>When the broker appended it, in unix microseconds.</summary>
    public long AppendTime => BinaryPrimitives.ReadInt64LittleEndian(_bytes[BatchLayout.AppendTime..]);

    /// <summary>When the producer opened it, in unix microseconds of the producer's clock.</summary>
    public long Timestamp => BinaryPrimitives.ReadInt64LittleEndian(_bytes[BatchLayout.Timestamp..]);

    /// <summary>Id of the producer that sent it; 0 for an anonymous one.</summary>
    public ulong ProducerId => BinaryPrimitives.ReadUInt64LittleEndian(_bytes[BatchLayout.ProducerId..]);

    /// <summary>The producer's number of the first record.</summary>
    public ulong BaseSequence => BinaryPrimitives.ReadUInt64LittleEndian(_bytes[BatchLayout.BaseSequence..]);

    /// <summary>The producer's epoch.</summary>
    public uint ProducerEpoch => BinaryPrimitives.ReadUInt32LittleEndian(_bytes[BatchLayout.ProducerEpoch..]);

    /// <summary>The log's epoch when it was appended.</summary>
    public uint LeaderEpoch => BinaryPrimitives.ReadUInt32LittleEndian(_bytes[BatchLayout.LeaderEpoch..]);

    /// <summary>Header checksum of the previous batch.</summary>
    public uint PreviousCrc => BinaryPrimitives.ReadUInt32LittleEndian(_bytes[BatchLayout.PreviousCrc..]);

    /// <summary><see cref="BaseOffset"/> minus the durable end when it was appended; saturates.</summary>
    public uint DurableBack => BinaryPrimitives.ReadUInt32LittleEndian(_bytes[BatchLayout.DurableBack..]);

    /// <summary>
    /// The authentication code by which a journal recognizes its own batches; 0 where no journal stores them.
    /// </summary>
    public ulong Mac => BinaryPrimitives.ReadUInt64LittleEndian(_bytes[BatchLayout.Mac..]);

    /// <summary>The bytes after the header, padding included.</summary>
    /// <exception cref="ProtocolException">
    /// The header's lengths contradict each other, or the view holds less than the batch.
    /// </exception>
    public ReadOnlySpan<byte> Payload
    {
        get
        {
            int headerLength = HeaderLength,
                length = Length;
            return headerLength >= BatchLayout.HeaderSize && headerLength <= length && length <= _bytes.Length
                ? _bytes[headerLength..length]
                : throw Contradiction();
        }
    }

    /// <summary>The records, checked one by one as they are enumerated.</summary>
    /// <exception cref="ProtocolException">
    /// The header's lengths contradict each other, or the records are compressed.
    /// </exception>
    public RecordEnumerator Records => RecordsOf(default);

    /// <summary>What a consumer does with the batch. Needs the whole header; does not check for damage.</summary>
    /// <param name="now">The consumer's time, in unix microseconds.</param>
    public BatchFate FateAt(long now) =>
        Kind switch
        {
            BatchKind.Gap => BatchFate.Lost,
            not BatchKind.Data => BatchFate.Skip,
            _ when DueAt != 0 => BatchFate.Later,
            _ when ExpiresAt <= now => BatchFate.Expired,
            _ => BatchFate.Deliver,
        };

    /// <summary>Takes the first batch of a run by its length; nothing else is checked.</summary>
    /// <param name="run">Bytes that begin with a batch.</param>
    /// <param name="batch">The batch.</param>
    /// <returns>False when the length is impossible, or longer than the run.</returns>
    public static bool TryRead(ReadOnlySpan<byte> run, out BatchView batch)
    {
        batch = default;
        if (run.Length < BatchLayout.HeaderSize)
            return false;
        int length = BinaryPrimitives.ReadInt32LittleEndian(run);
        if (length < BatchLayout.HeaderSize || length > run.Length || length % BatchLayout.Alignment != 0)
            return false;
        batch = new BatchView(run[..length]);
        return true;
    }

    /// <summary>
    /// Whether magic, version and header length are right and the header's checksum holds. Needs the whole header.
    /// </summary>
    public bool VerifyHeader()
    {
        int headerLength = HeaderLength;
        return _bytes[BatchLayout.MagicAndVersion] == BatchLayout.Magic
            && _bytes[BatchLayout.MagicAndVersion + 1] == BatchLayout.Version
            && headerLength is >= BatchLayout.HeaderSize and <= BatchLayout.MaxHeaderSize
            && headerLength <= _bytes.Length
            && headerLength <= Length
            && ComputeHeaderCrc(_bytes[..headerLength]) == HeaderCrc;
    }

    /// <summary>
    /// Whether the payload's checksum holds. Needs the whole batch and a header whose checksum holds.
    /// </summary>
    public bool VerifyPayload()
    {
        int headerLength = HeaderLength,
            length = Length;
        return headerLength >= BatchLayout.HeaderSize
            && headerLength <= length
            && length <= _bytes.Length
            && Crc32C.Compute(_bytes[headerLength..length]) == PayloadCrc;
    }

    /// <summary>The checksum of a header: bytes 0 to 3 and from 8 on.</summary>
    /// <param name="header">The header with its extensions, and nothing after them.</param>
    public static uint ComputeHeaderCrc(ReadOnlySpan<byte> header)
    {
        uint length = ~BitOperations.Crc32C(uint.MaxValue, BinaryPrimitives.ReadUInt32LittleEndian(header));
        return Crc32C.Append(length, header[BatchLayout.PayloadCrc..]);
    }

    /// <summary>The records, of memory that holds them for a while.</summary>
    /// <param name="life">How long.</param>
    internal RecordEnumerator RecordsOf(ViewLife life)
    {
        ReadOnlySpan<byte> payload = Payload;
        int bytes = UncompressedLength,
            count = RecordCount;
        if ((Flags & BatchLayout.CodecMask) != 0)
        {
            throw new ProtocolException(
                ErrorCode.NotSupported,
                "The batch's records are compressed; they have to be inflated first."
            );
        }

        return (uint)bytes <= (uint)payload.Length && count >= 0
            ? new RecordEnumerator(payload[..bytes], count, BaseOffset, life)
            : throw Contradiction();
    }

    private long ReadExtension(byte id, long otherwise)
    {
        ReadOnlySpan<byte> found = FindExtension(id);
        return found.Length == sizeof(long) ? BinaryPrimitives.ReadInt64LittleEndian(found) : otherwise;
    }

    private ReadOnlySpan<byte> FindExtension(byte id)
    {
        ReadOnlySpan<byte> left = Extensions;
        while (left.Length >= BatchExtension.HeadSize && left.Length - BatchExtension.HeadSize >= left[1])
        {
            if (left[0] == id)
                return left.Slice(BatchExtension.HeadSize, left[1]);
            left = left[(BatchExtension.HeadSize + left[1])..];
        }
        return default;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ProtocolException TooShort() =>
        new(ErrorCode.MalformedBatch, $"A batch has at least {BatchLayout.HeaderSize} bytes.");

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ProtocolException Contradiction() =>
        new(ErrorCode.CorruptData, "A batch's header contradicts its length.");
}

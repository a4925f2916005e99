namespace LightQ.Protocol.Batches;

/// <summary>
/// Where the fields of a batch header are. The same bytes travel on the wire, lie in the ring and are written to disk.
/// </summary>
/// <remarks>
/// Little-endian. B = stamped by the broker when it appends, zero in what a producer sends.
/// <code>
///  0 u32 length            multiple of 8
///  4 u32 headerCrc         CRC-32C of bytes 0-3 and 8..headerLength
///  8 u32 payloadCrc        CRC-32C of bytes headerLength..length, padding included
/// 12 u8  magic  13 u8 version  14 u16 headerLength
/// 16 u32 flags             bits 0-3 codec, 4-6 kind, 7 transactional, 8 has due time, 9 has expiry, 10 has origin B,
///                          11 has message id, 12 has relative times (a producer's alone), 13 holds dead letters B
/// 20 u32 recordCount  24 u32 offsetSpan  28 u32 uncompressedLength (records, without padding)
/// 32 u64 baseOffset   B    40 i64 appendTime B (unix microseconds)  48 i64 timestamp (producer's clock)
/// 56 u64 producerId   64 u64 baseSequence (of a copy of a delayed batch: where that was published; of a cancellation: where
/// the message was)   72 u32 producerEpoch
/// (of a batch with a message id and the producer id 0: the number of the user who published it, B)
/// 76 u32 leaderEpoch  B    80 u32 previousCrc B    84 u32 durableBack B    88 u64 mac B
/// 96 extensions, see <see cref="BatchExtension"/>, up to headerLength; then the records or what a codec made of them
/// </code>
/// </remarks>
public static class BatchLayout
{
    /// <summary>Bytes of a header without extensions.</summary>
    public const int HeaderSize = 96;

    /// <summary>Most bytes of a header with extensions.</summary>
    public const int MaxHeaderSize = 256;

    /// <summary>Every batch's length is a multiple of this.</summary>
    public const int Alignment = 8;

    /// <summary>The thirteenth byte of every batch.</summary>
    public const byte Magic = 0xB7;

    /// <summary>The layout's version.</summary>
    public const byte Version = 1;

    /// <summary>The bits of the flags that name the <see cref="BatchCodec"/>.</summary>
    public const uint CodecMask = 0xF;

    /// <summary>The flag of a batch with a due time.</summary>
    public const uint HasDueTime = 1 << 8;

    /// <summary>The flag of a batch with an expiry.</summary>
    public const uint HasExpiry = 1 << 9;

    /// <summary>
    /// The flag of a batch that the broker made from a delayed one: its delivery, with <see cref="HasDueTime"/> a copy
    /// that replaces it, or of kind control the note that a message of it is cancelled. Only the broker sets it.
    /// </summary>
    public const uint HasOrigin = 1 << 10;

    /// <summary>The flag of a batch whose only message has an id.</summary>
    public const uint HasMessageId = 1 << 11;

    /// <summary>
    /// The flag of a batch whose due time and expiry are microseconds from its append on. Only producers set it: the
    /// broker adds the append time, and takes the flag away.
    /// </summary>
    public const uint HasRelativeTimes = 1 << 12;

    /// <summary>
    /// The flag of a batch of dead letters, by which they are told from messages that only look like some. Only the
    /// broker sets it.
    /// </summary>
    public const uint HoldsLetters = 1 << 13;

    /// <summary>The flags that a producer may set. The codec bits may name any <see cref="BatchCodec"/>.</summary>
    public const uint ProducerFlags = CodecMask | HasDueTime | HasExpiry | HasMessageId | HasRelativeTimes;

    /// <summary>Offset of the length.</summary>
    public const int Length = 0;

    /// <summary>Offset of the header's checksum.</summary>
    public const int HeaderCrc = 4;

    /// <summary>Offset of the payload's checksum.</summary>
    public const int PayloadCrc = 8;

    /// <summary>Offset of magic and version.</summary>
    public const int MagicAndVersion = 12;

    /// <summary>Offset of the header's length.</summary>
    public const int HeaderLength = 14;

    /// <summary>Offset of the flags.</summary>
    public const int Flags = 16;

    /// <summary>Offset of the record count.</summary>
    public const int RecordCount = 20;

    /// <summary>Offset of the offset span.</summary>
    public const int OffsetSpan = 24;

    /// <summary>Offset of the records' length before compression.</summary>
    public const int UncompressedLength = 28;

    /// <summary>Offset of the base offset.</summary>
    public const int BaseOffset = 32;

    /// <summary>Offset of the append time.</summary>
    public const int AppendTime = 40;

    /// <summary>Offset of the producer's time stamp.</summary>
    public const int Timestamp = 48;

    /// <summary>Offset of the producer id.</summary>
    public const int ProducerId = 56;

    /// <summary>Offset of the base sequence.</summary>
    public const int BaseSequence = 64;

    /// <summary>Offset of the producer epoch.</summary>
    public const int ProducerEpoch = 72;

    /// <summary>Offset of the leader epoch.</summary>
    public const int LeaderEpoch = 76;

    /// <summary>Offset of the header checksum of the batch before.</summary>
    public const int PreviousCrc = 80;

    /// <summary>Offset of the distance to the durable end.</summary>
    public const int DurableBack = 84;

    /// <summary>Offset of the authentication code by which a journal recognizes its own batches.</summary>
    public const int Mac = 88;

    /// <summary>Rounds up to <see cref="Alignment"/>.</summary>
    public static int Align(int length) => (length + (Alignment - 1)) & ~(Alignment - 1);
}

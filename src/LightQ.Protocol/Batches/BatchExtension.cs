namespace LightQ.Protocol.Batches;

/// <summary>The extensions of a batch header: from byte 96 up to the header's length, one after the other.</summary>
/// <remarks>
/// <code>
///  0    1        2
///  +----+--------+---------------+
///  | id | length | length bytes  |
///  +----+--------+---------------+
/// id 1  due time        i64 unix microseconds: not delivered before            with flag 8
/// id 2  expiry          i64 unix microseconds: not delivered from then on      with flag 9
/// id 3  origin offset   i64, stamped by the broker: where the delayed batch was published that this delivers, or a message of which it cancels   with flag 10 and without 8
/// id 4  message id      1 to 128 bytes of UTF-8: the id of the batch's only message                with flag 11
/// </code>
/// Each at most once. A number is never given another meaning.
/// </remarks>
public static class BatchExtension
{
    /// <summary>When the batch's messages are to be delivered.</summary>
    public const byte DueTime = 1;

    /// <summary>When the batch's messages expire.</summary>
    public const byte Expiry = 2;

    /// <summary>
    /// The offset at which the delayed batch was published that this batch delivers, or a message of which it cancels.
    /// </summary>
    public const byte OriginOffset = 3;

    /// <summary>
    /// The id of the batch's only message. A topic with a deduplication window recognizes a repeated message by it.
    /// </summary>
    public const byte MessageId = 4;

    /// <summary>Bytes of an extension's id and length.</summary>
    public const int HeadSize = 2;

    /// <summary>Bytes of an extension that holds an i64.</summary>
    public const int Size = HeadSize + sizeof(long);
}

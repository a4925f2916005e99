namespace LightQ.Protocol.Records;

/// <summary>Where the parts of a record are.</summary>
/// <remarks>
/// <code>
///  0            4           6               8
///  +------------+-----------+---------------+-----+---------+------
///  | bodyLength | keyLength | headersLength | key | headers | body
///  +------------+-----------+---------------+-----+---------+------
///  u32          u16         u16
/// </code>
/// keyLength 0xFFFF: no key. bodyLength 0xFFFFFFFF: a tombstone, no body. Headers are a run of
/// <c>{u8 nameLength, name, u16 valueLength, value}</c>; nameLength 0 means that a u8 id stands for the name,
/// see <see cref="WellKnownHeader"/>.
/// </remarks>
public static class RecordLayout
{
    /// <summary>Bytes in front of the key.</summary>
    public const int FixedSize = 8;

    /// <summary>keyLength of a record without a key.</summary>
    public const int NoKey = 0xFFFF;

    /// <summary>Longest key, in bytes.</summary>
    public const int MaxKeyLength = NoKey - 1;

    /// <summary>Longest run of headers, in bytes.</summary>
    public const int MaxHeadersLength = ushort.MaxValue;

    /// <summary>bodyLength of a tombstone.</summary>
    public const uint Tombstone = uint.MaxValue;
}

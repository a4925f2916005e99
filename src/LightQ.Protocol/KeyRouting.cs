using LightQ.Protocol.Checksums;

namespace LightQ.Protocol;

/// <summary>
/// Says which partition a message with a key belongs to. The rule never changes, because stored messages were routed by
/// it.
/// </summary>
public static class KeyRouting
{
    /// <summary>The rule's number in ProducerOpened.</summary>
    public const byte Version = 1;

    /// <summary>The partition of a key: CRC-32C(key) mod the number of partitions.</summary>
    /// <param name="key">The key's bytes; text is UTF-8. An empty key is a key too; it belongs to partition 0.</param>
    /// <param name="partitionCount">How many partitions the topic has, 1 or more.</param>
    public static int PartitionOf(ReadOnlySpan<byte> key, int partitionCount)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(partitionCount, 1);
        return (int)(Crc32C.Compute(key) % (uint)partitionCount);
    }
}

using System.Buffers.Binary;
using System.Text;

namespace LightQ.Broker.Cluster;

/// <summary>
/// Which node is to lead a partition: rendezvous hashing. Each node has a weight for each partition, and the heaviest
/// leads. A node that comes or goes moves only the partitions that it gets or had.
/// </summary>
internal static class Placement
{
    private const ulong Basis = 14695981039346656037,
        Prime = 1099511628211;

    /// <summary>The nodes, the one that is to lead first.</summary>
    public static string[] Order(IEnumerable<string> nodes, PartitionId partition) =>
        [
            .. nodes
                .OrderByDescending(node => Weight(node, partition))
                .ThenBy(static node => node, StringComparer.Ordinal),
        ];

    /// <summary>The same on every machine and in every version: nodes that compute it must agree.</summary>
    public static ulong Weight(string node, PartitionId partition)
    {
        Span<byte> id = stackalloc byte[20];
        partition.Topic.TryWriteBytes(id);
        BinaryPrimitives.WriteUInt32LittleEndian(id[16..], partition.Partition);
        return Mix(Add(Add(Basis, Encoding.UTF8.GetBytes(node)), id));
    }

    /// <summary>FNV-1a.</summary>
    private static ulong Add(ulong hash, ReadOnlySpan<byte> bytes)
    {
        foreach (byte b in bytes)
            hash = unchecked((hash ^ b) * Prime);
        return hash;
    }

    /// <summary>
    /// The end of SplitMix64: the names of nodes differ in one character, which must change all bits of the weight.
    /// </summary>
    private static ulong Mix(ulong hash)
    {
        unchecked
        {
            hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
            hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
            return hash ^ (hash >> 31);
        }
    }
}

namespace LightQ.Broker.Replication;

/// <summary>What lies in a partition's stream behind the last snapshot: the next owner reads it.</summary>
/// <param name="Bytes">Its bytes.</param>
/// <param name="Entries">Its entries. Small ones take as long as their number, and not as their bytes.</param>
internal readonly record struct StreamTail(long Bytes, long Entries)
{
    /// <summary>The same with one entry more.</summary>
    public StreamTail Add(long bytes) => new(Bytes + bytes, Entries + 1);
}

namespace LightQ.Client.Processing;

/// <summary>What messages of one lane have in common: their partition, or the bytes of their key.</summary>
internal readonly struct LaneKey(int partition, ReadOnlyMemory<byte> key) : IEquatable<LaneKey>
{
    private readonly int _partition = partition;
    private readonly ReadOnlyMemory<byte> _key = key;

    public bool Equals(LaneKey other) => _partition == other._partition && _key.Span.SequenceEqual(other._key.Span);

    public override bool Equals(object? obj) => obj is LaneKey other && Equals(other);

    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.Add(_partition);
        hash.AddBytes(_key.Span);
        return hash.ToHashCode();
    }
}

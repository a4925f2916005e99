namespace LightQ.Client;

/// <summary>
/// Brokers in their order. Two lists of the same brokers are equal, as the options that hold them are to be; lists
/// themselves would be compared by reference.
/// </summary>
/// <param name="Brokers">The brokers; null for none.</param>
internal readonly record struct BrokerList(IReadOnlyList<BrokerEndpoint>? Brokers)
{
    /// <summary>The brokers.</summary>
    public IReadOnlyList<BrokerEndpoint> Items => Brokers ?? [];

    /// <summary>Whether the other list has the same brokers in the same order.</summary>
    public bool Equals(BrokerList other) => Items.SequenceEqual(other.Items);

    public override int GetHashCode() => Items.Aggregate(0, static (hash, broker) => HashCode.Combine(hash, broker));
}

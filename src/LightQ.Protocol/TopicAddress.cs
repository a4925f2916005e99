using System.Globalization;

namespace LightQ.Protocol;

/// <summary>A topic, or one of its partitions: <c>orders</c>, <c>orders/3</c>.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="Partition">The partition; null for all of them, or any.</param>
public readonly record struct TopicAddress(string Topic, int? Partition)
{
    /// <summary>Reads an address.</summary>
    /// <param name="text">The text.</param>
    /// <param name="address">The address that was read.</param>
    /// <param name="problem">What is wrong with the text, for people; empty when nothing is wrong.</param>
    public static bool TryParse(string text, out TopicAddress address, out string problem)
    {
        ArgumentNullException.ThrowIfNull(text);
        int slash = text.IndexOf('/', StringComparison.Ordinal);
        string name = slash < 0 ? text : text[..slash];
        int partition = 0;
        bool isPartition =
            slash < 0
            || (
                int.TryParse(text.AsSpan(slash + 1), NumberStyles.None, CultureInfo.InvariantCulture, out partition)
                && partition < ProtocolLimits.MaxPartitions
            );
        problem =
            !TopicName.IsValid(name) ? $"'{name}' is not a topic's name: {TopicName.Rule}."
            : !isPartition
                ? $"'{text[(slash + 1)..]}' is not a partition's number: 0 to {ProtocolLimits.MaxPartitions - 1}."
            : "";
        address = new TopicAddress(name, slash < 0 ? null : partition);
        return problem.Length == 0;
    }

    /// <summary>The address as it is written.</summary>
    public override string ToString() =>
        Partition is { } partition ? string.Create(CultureInfo.InvariantCulture, $"{Topic}/{partition}") : Topic;
}

using System.Globalization;
using LightQ.Protocol;

namespace LightQ.Cli.Commands;

/// <summary>A topic, or one of its partitions: <c>orders</c>, <c>orders/3</c>.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="Partition">The partition; null for all, or any.</param>
internal readonly record struct TopicAddress(string Topic, int? Partition)
{
    public static bool TryParse(string text, out TopicAddress address, out string problem)
    {
        int slash = text.IndexOf('/', StringComparison.Ordinal);
        string name = slash < 0 ? text : text[..slash];
        int partition = 0;
        bool isNumber = slash < 0 || int.TryParse(text.AsSpan(slash + 1), NumberStyles.None, CultureInfo.InvariantCulture, out partition);
        problem = !TopicName.IsValid(name) ? $"'{name}' is not a topic's name: {TopicName.Rule}."
            : !isNumber ? $"'{text[(slash + 1)..]}' is not a partition's number."
            : "";
        address = new TopicAddress(name, slash < 0 ? null : partition);
        return problem.Length == 0;
    }
}

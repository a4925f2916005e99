using LightQ.Protocol;

namespace LightQ.Client;

/// <summary>Reads the topic that a caller names, or one of its partitions.</summary>
internal static class AddressArgument
{
    /// <summary>Reads an address.</summary>
    /// <param name="topic"><c>orders</c>, or <c>orders/3</c>.</param>
    /// <param name="partition">The partition that options name as well; null when they name no partition.</param>
    /// <exception cref="ArgumentException">
    /// The text is not an address, or names another partition than the options.
    /// </exception>
    public static TopicAddress Parse(string topic, int? partition = null)
    {
        ArgumentNullException.ThrowIfNull(topic);
        if (!TopicAddress.TryParse(topic, out TopicAddress address, out string problem))
            throw new ArgumentException(problem, nameof(topic));
        if (address.Partition is { } named && partition is { } wanted && named != wanted)
        {
            throw new ArgumentException(
                $"'{topic}' names partition {named}, and the options partition {wanted}.",
                nameof(topic)
            );
        }

        return address with
        {
            Partition = address.Partition ?? partition,
        };
    }
}

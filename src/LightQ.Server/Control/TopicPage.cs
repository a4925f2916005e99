using LightQ.Broker;
using LightQ.Protocol;

namespace LightQ.Server.Control;

/// <summary>Topics in the order of their names, a page at a time.</summary>
/// <remarks>The page token is the last name of the page before, so pages stay right while topics come and go.</remarks>
internal static class TopicPage
{
    private const int DefaultSize = 100,
        LargestSize = 1000;

    /// <summary>Takes a page.</summary>
    /// <param name="topics">The topics that the caller may see.</param>
    /// <param name="size">How many; 0 for the default.</param>
    /// <param name="token">The token; empty for the first page.</param>
    /// <returns>The page, and the token of the next; empty on the last.</returns>
    /// <exception cref="BrokerException">The token is not one.</exception>
    public static (Broker.Topics.Topic[] Topics, string Next) Take(
        IEnumerable<Broker.Topics.Topic> topics,
        uint size,
        string token
    )
    {
        if (token.Length != 0 && !TopicName.IsValid(token))
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                "page_token is not one that this broker gave out; allowed: next_page_token of the page before, or "
                    + "empty."
            );
        }

        int most = size == 0 ? DefaultSize : (int)Math.Min(size, LargestSize);
        Broker.Topics.Topic[] page =
        [
            .. topics
                .Where(t => string.CompareOrdinal(t.Name, token) > 0)
                .OrderBy(t => t.Name, StringComparer.Ordinal)
                .Take(most + 1),
        ];
        return page.Length > most ? (page[..most], page[most - 1].Name) : (page, "");
    }
}

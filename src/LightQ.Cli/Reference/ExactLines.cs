using System.Globalization;

namespace LightQ.Cli.Reference;

/// <summary>What the documents' lines leave out: true rates, each message's latency, and whether all came.</summary>
internal static class ExactLines
{
    public static IEnumerable<string> Of(TransferResult result)
    {
        string topic = $"Topic[{result.Topic}], ";
        string until = result.FirstReceivedUs is null ? "last ack" : "last message received";
        yield return topic
            + Text($"Exact: from first message sent to {until} [{result.EndUs - result.FirstSentUs}] us, messages per ")
            + Text($"second [{result.MessagesPerSecond:F2}], bandwidth per second [{result.MbPerSecond:F4}] MB");
        if (result.LatencyUs is not { } latency)
            yield break;
        yield return $"{topic}Exact: latency of a message "
            + $"{string.Join(", ", latency.Points().Select(p => Text($"{p.Name} [{p.Value:F1}]")))} us";
        yield return topic
            + Text($"Exact: lost [{result.Lost}], repeated [{result.Duplicated}], reordered [{result.Reordered}], ")
            + Text($"damaged [{result.Damaged}]");
        if (result.Skipped > 0)
            yield return topic + Text($"Exact: messages from before that were skipped [{result.Skipped}]");
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}

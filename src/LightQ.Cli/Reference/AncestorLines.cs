using System.Globalization;

namespace LightQ.Cli.Reference;

/// <summary>What the ancestor's producer and consumer print, to the word.</summary>
/// <remarks>
/// Theirs are milliseconds, rates over whole seconds (the rest is dropped, so they come out too high; below one second
/// there are no whole ones, and the exact time is taken), single-precision numbers, and a latency that is the elapsed
/// time divided by the messages.
/// </remarks>
internal static class AncestorLines
{
    private const long MicrosecondsPerMillisecond = 1000;
    private const long NanosecondsPerMillisecond = 1_000_000;
    private const float BytesPerMb = 1024 * 1024;

    public static IEnumerable<string> OfProducer(TransferResult result)
    {
        long first = Milliseconds(result.FirstSentUs),
            last = Milliseconds(result.EndUs);
        float seconds = Seconds(result.FirstSentUs, result.EndUs);
        string topic = $"Topic[{result.Topic}], ";
        yield return $"{topic}Producer: first message sent timestamp [{first}l]";
        yield return $"{topic}Producer: last message sent timestamp [{last}l]";
        yield return topic + Text($"Total message sent [{result.Messages}] in [{seconds:F2}] sec");
        yield return topic + Text($"Average messages sent per second [{result.Messages / seconds:F2}]");
        yield return topic + Text($"Average bandwidth sent per second [{result.Bytes / seconds / BytesPerMb:F4}] MB");
    }

    public static IEnumerable<string> OfConsumer(TransferResult result)
    {
        long sent = Milliseconds(result.FirstSentUs),
            first = Milliseconds(result.FirstReceivedUs ?? result.EndUs),
            end = Milliseconds(result.EndUs);
        float seconds = Seconds(result.FirstReceivedUs ?? result.EndUs, result.EndUs);
        float latency = (end - sent) * NanosecondsPerMillisecond / result.Messages;
        string topic = $"Topic[{result.Topic}], ";
        yield return $"{topic}First message:  producer start time [{sent}], consumer start time [{first}]";
        yield return topic + Text($"Total message received [{result.Messages}] in [{seconds:F2}]sec");
        yield return topic + Text($"Average messages received per second [{result.Messages / seconds:F2}]");
        yield return topic
            + Text($"Total bytes received [{result.Bytes}], average bandwidth received per second ")
            + Text($"[{result.Bytes / seconds / BytesPerMb:F4}]MB");
        yield return $"{topic}Last Message: consumer endtime [{end}]";
        yield return $"{topic}Consumer first message latency [{first - sent}] ms";
        yield return $"{topic}Consumer last message received -   producer first message sent timestamp [{end - sent}]";
        yield return topic + Text($"Average latency [{latency:F2}] nano sec");
    }

    private static long Milliseconds(long microseconds) => microseconds / MicrosecondsPerMillisecond;

    private static float Seconds(long start, long end)
    {
        long microseconds = Math.Max(1, end - start),
            whole = microseconds / 1_000_000;
        return whole > 0 ? whole : microseconds / 1e6f;
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}

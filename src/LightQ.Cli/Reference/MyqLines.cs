using System.Globalization;

namespace LightQ.Cli.Reference;

/// <summary>
/// What myq's producer and consumer print, to the word. Theirs are the wall clock's milliseconds, and exact rates.
/// </summary>
internal static class MyqLines
{
    private const double BytesPerMb = 1024 * 1024;
    private const long MicrosecondsPerMillisecond = 1000;

    public static IEnumerable<string> OfProducer(TransferResult result) => Of(result, result.FirstSentUs, "sent");

    public static IEnumerable<string> OfConsumer(TransferResult result) =>
        Of(result, result.FirstReceivedUs ?? result.EndUs, "received");

    private static IEnumerable<string> Of(TransferResult result, long start, string moved)
    {
        double seconds = Math.Max(1, result.EndUs - start) / 1e6;
        yield return Text($"Total Messages:{result.Messages}, Time Taken:{seconds:G6} seconds.");
        yield return Text($"Start Time: {Milliseconds(start)}, End Time:{Milliseconds(result.EndUs)}");
        yield return Text($"{(long)(result.Messages / seconds)} messages per seconds.");
        yield return Text($"{result.Bytes} bytes {moved}");
        yield return Text($"{result.Bytes / seconds / BytesPerMb:F4} MB per second.");

        long Milliseconds(long microseconds) => (microseconds + result.WallClockUs) / MicrosecondsPerMillisecond;
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}

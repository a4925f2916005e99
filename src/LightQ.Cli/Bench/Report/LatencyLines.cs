using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Cli.Options;

namespace LightQ.Cli.Bench.Report;

/// <summary>A latency run in the layout of the reference document.</summary>
internal static class LatencyLines
{
    private const string Rule = "==============================";

    // What is published is also delivered.
    private const int Ways = 2;

    public static IEnumerable<string> Of(int size, double rate, TimeSpan duration, LatencyRun run)
    {
        double actual = Math.Floor(run.Messages / (run.LastSentUs / 1e6));
        yield return Rule;
        yield return $"Pub Server RTT : {Time(run.PublishRoundTripUs)}";
        yield return $"Sub Server RTT : {Time(run.SubscribeRoundTripUs)}";
        yield return $"Message Payload: {SizeText.Short(size)}";
        yield return $"Target Duration: {DurationText.Format(duration)}";
        yield return Text($"Target Msgs/Sec: {rate}");
        yield return $"Target Band/Sec: {SizeText.Short(rate * size * Ways)}";
        yield return Rule;
        yield return "HDR Percentiles:";
        foreach ((double percentile, double value) in LatencyRun.Percentiles.Zip(run.PercentilesUs))
            yield return Text($"{Text($"{percentile}:"), -9} {Time(value)}");
        yield return Rule;
        yield return Text($"Actual Msgs/Sec: {actual}");
        yield return $"Actual Band/Sec: {SizeText.Short(actual * size * Ways)}";
        yield return $"Minimum Latency: {Time(run.MinUs)}";
        yield return $"Median Latency : {Time(run.PercentilesUs[1])}";
        yield return $"Maximum Latency: {Time(run.PercentilesUs[^1])}";
        yield return $"1st Sent Wall Time : {Time(run.FirstSentUs)}";
        yield return $"Last Sent Wall Time: {Time(run.LastSentUs)}";
        yield return $"Last Recv Wall Time: {Time(run.LastReceivedUs)}";
    }

    private static string Time(double microseconds) =>
        DurationText.Format(TimeSpan.FromMicroseconds(Math.Floor(microseconds)));

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}

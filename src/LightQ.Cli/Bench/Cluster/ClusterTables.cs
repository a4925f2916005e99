using System.Globalization;
using LightQ.Cli.Output;
using Spectre.Console;

namespace LightQ.Cli.Bench.Cluster;

/// <summary>The report as tables for people.</summary>
internal static class ClusterTables
{
    public static void Write(ClusterReport report, IAnsiConsole console)
    {
        console.WriteLine(
            string.Create(
                CultureInfo.InvariantCulture,
                $"cluster on {report.Machine.Cpu}, {report.Machine.Cores} cores, {report.Machine.Runtime}; three "
                    + $"replicas on {report.Engine}, {Plural.Of(report.Partitions, "partition")}"
            )
        );
        string batch = Text($"{report.BatchBytes / 1024.0:0} KiB");
        Table rates = CommandConsole.Table("rate", "MiB/s", "LightQ's part");
        rates.AddRow(
            Text($"engine, one append of {report.RunBytes / 1024:0} KiB under way in each stream"),
            Text($"{report.EngineOneAtATimeMibPerSecond:0.0}"),
            Text($"{report.RatioOneAtATime:0.00}")
        );
        rates.AddRow(
            $"engine, pipeline of {batch}",
            Text($"{report.EnginePipelinedMibPerSecond:0.0}"),
            Text($"{report.RatioPipelined:0.00}")
        );
        rates.AddRow(
            Text($"LightQ, batches of {batch}, in appends of {report.RunBytes / 1024:0} KiB on average"),
            Text($"{report.LightqMibPerSecond:0.0}"),
            ""
        );
        console.Write(rates);
        Table latency = CommandConsole.Table($"one batch of {batch} at a time", "p50 ms", "p99 ms");
        foreach (
            (string who, ClusterReport.LatencyView times) in new[]
            {
                ("engine", report.EngineLatencyMs),
                ("LightQ", report.LightqLatencyMs),
            }
        )
        {
            latency.AddRow(who, Text($"{times.P50:0.00}"), Text($"{times.P99:0.00}"));
        }
        console.Write(latency);
        Table messages = CommandConsole.Table(
            Text($"single messages, each awaited, {report.InFlight} under way a partition"),
            "JetStream /s",
            "LightQ /s",
            "ratio"
        );
        foreach (ClusterReport.MessageView size in report.Messages)
        {
            messages.AddRow(
                Text($"{size.Bytes} B"),
                Text($"{size.JetstreamPerSecond:N0}"),
                Text($"{size.LightqPerSecond:N0}"),
                Text($"{size.Ratio:0.0}")
            );
        }
        console.Write(messages);
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}

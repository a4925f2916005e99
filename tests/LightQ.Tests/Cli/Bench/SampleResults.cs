using LightQ.Bench;
using LightQ.Bench.Fanout;
using LightQ.Bench.Figures;
using LightQ.Bench.InProcess;
using LightQ.Bench.Latency;
using LightQ.Bench.Reference;
using LightQ.Bench.Scale;
using LightQ.Bench.Settle;
using LightQ.Bench.Startup;
using LightQ.Bench.Throughput;
using LightQ.Cli.Bench.Report;

namespace LightQ.Tests.Cli.Bench;

/// <summary>Results of every scenario, as a bench with a broker of its own has them.</summary>
internal static class SampleResults
{
    public static BenchReport<TResult> Report<TResult>(
        ScenarioView<TResult> view,
        params IReadOnlyList<TResult> results
    )
        where TResult : BenchResult =>
        new()
        {
            Scenario = view.Name,
            Machine = BenchMachine.Current(),
            Results = results,
        };

    public static ThroughputResult Moved(int size, string yardstick, double rate, double theirs) =>
        new()
        {
            Size = size,
            Kind = "transient",
            Ack = "memory",
            Api = "batch",
            Messages = 1_000_000,
            MessagesPerSecond = rate,
            Yardstick = yardstick,
            YardstickMessagesPerSecond = theirs,
            Ratio = rate / theirs,
            Pairs = 3,
            BrokerCpuSeconds = 1.5,
            BrokerPeakRssBytes = 98L << 20,
            Runs = [rate, rate, rate],
            YardstickRuns = [theirs, theirs, theirs],
        };

    public static LatencyResult Paced(string yardstick) =>
        new()
        {
            Size = 512,
            Kind = "transient",
            Ack = "memory",
            Api = "message",
            Messages = 5000,
            MessagesPerSecond = 1000,
            Yardstick = yardstick,
            YardstickMessagesPerSecond = 1000,
            Ratio = 1,
            RatioP99 = 1,
            Pairs = 3,
            Rate = 1000,
            LatencyUs = Latency(77),
            YardstickLatencyUs = Latency(90),
            BrokerCpuSeconds = 1.5,
            BrokerPeakRssBytes = 98L << 20,
            Runs = [1000, 1000, 1000],
        };

    public static ReferenceResult Published(string kind, string document, double theirs) =>
        new()
        {
            Size = 100,
            Kind = kind,
            Ack = kind == "durable" ? "fsync" : "memory",
            Api = "batch",
            Messages = 1_000_000,
            MessagesPerSecond = 5_000_000,
            Yardstick = document,
            YardstickMessagesPerSecond = theirs,
            PublishedMessagesPerSecond = 1_250_000,
            Ratio = 5_000_000 / theirs,
            Pairs = 1,
            LatencyUs = Latency(500),
            BrokerCpuSeconds = 1.5,
            BrokerPeakRssBytes = 98L << 20,
            Runs = [5_000_000],
        };

    public static SettleResult Settled(string way, double rate) =>
        new()
        {
            Size = 100,
            Kind = "durable",
            Ack = "fsync",
            Api = way,
            Messages = 1_000_000,
            MessagesPerSecond = rate,
            Yardstick = "automatic",
            YardstickMessagesPerSecond = 10_000_000,
            Ratio = rate / 10_000_000,
            Pairs = 3,
            BrokerPeakRssBytes = 98L << 20,
            Runs = [rate, rate, rate],
            YardstickRuns = [10_000_000, 10_000_000, 10_000_000],
        };

    public static StartupResult Started() =>
        new()
        {
            Size = 1024,
            Kind = "durable",
            Ack = "fsync",
            Api = "batch",
            Messages = 1_000_000,
            Yardstick = "empty",
            Ratio = 1,
            Pairs = 3,
            Topics = 1000,
            BacklogBytes = 10L << 30,
            ReadyMs = 900,
            YardstickReadyMs = 440,
            ReadyRunsMs = [880, 900, 1500],
            YardstickReadyRunsMs = [440, 430, 450],
            BrokerReadyRssBytes = 117L << 20,
            BrokerPeakRssBytes = 198L << 20,
        };

    /// <param name="target">What messages went through.</param>
    /// <param name="late">How many came late, in percent.</param>
    public static InProcessResult HandedOver(string target, double late) =>
        new()
        {
            Size = 29,
            Kind = target,
            Ack = "memory",
            Api = "payload",
            Messages = 100_000,
            Yardstick = "line",
            Ratio = 1,
            RatioP99 = 1,
            Pairs = 1,
            Rate = 10_000,
            LatencyUs = Latency(0.4) with { LaterThan20UsPercent = late },
            YardstickLatencyUs = Latency(0.1) with { LaterThan20UsPercent = 0.75 },
            LatencyRunsUs = [Latency(0.4) with { LaterThan20UsPercent = late }],
            YardstickLatencyRunsUs = [Latency(0.1) with { LaterThan20UsPercent = 0.75 }],
            Processes = 1,
        };

    public static FanoutResult FannedOut(double rate) =>
        new()
        {
            Size = 1024,
            Kind = "transient",
            Ack = "memory",
            Api = "message",
            Messages = 660,
            MessagesPerSecond = 20_000,
            Yardstick = "document",
            Ratio = 0.16,
            Pairs = 1,
            LatencyUs = Latency(9000 + rate),
            BrokerCpuSeconds = 1.5,
            BrokerPeakRssBytes = 98L << 20,
            Fanout = new FanoutFigures
            {
                Publishers = 20,
                Subscribers = 1000,
                Rate = rate,
                IdleConnections = 20_000,
                Published = 660,
                Settled = 660_000,
                Entries = 600_000,
                MeanUs = 9800,
                DeliveriesPerSecond = 20_000,
                CpuPercent = 40,
                Load = 1,
                RssBytes = 98L << 20,
            },
        };

    public static ScaleResult Grown(string dimension, double ratio) =>
        new()
        {
            Size = 1024,
            Kind = "durable",
            Ack = "fsync",
            Api = "batch",
            Messages = 1_000_000,
            Yardstick = "few",
            Ratio = ratio,
            Pairs = 3,
            BrokerPeakRssBytes = 98L << 20,
            Scale = new ScaleFigures
            {
                Dimension = dimension,
                Few = 1,
                Many = 100,
                Unit = "messages/s",
                FewRate = 300_000,
                ManyRate = 300_000 * ratio,
                RestBytes = 60L << 20,
                IdleCpuPercent = 0.5,
                BytesEach = 4000,
            },
            Runs = [300_000 * ratio],
            YardstickRuns = [300_000],
        };

    public static LatencyFigures Latency(double p50) =>
        new()
        {
            Min = p50,
            P50 = p50,
            P90 = 2 * p50,
            P99 = 10 * p50,
            P999 = 50 * p50,
            P9999 = 80 * p50,
            Max = 100 * p50,
        };
}

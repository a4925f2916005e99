using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Bench.Processes;
using LightQ.Client;

namespace LightQ.Bench.Scale;

/// <summary>
/// What a broker's work costs as there is more around it: for each dimension a broker with few and one with many,
/// measured in turns.
/// </summary>
internal sealed class ScaleBench(BenchSettings settings, ScaleSettings scale, IBenchConsole console)
{
    /// <summary>Until a broker that has just started or been filled has come to rest.</summary>
    private static readonly TimeSpan LongestSettling = TimeSpan.FromSeconds(3);

    /// <summary>The system counts a process' time in steps of so many seconds: less than one is not zero.</summary>
    private const double CpuTick = 0.01;

    private TimeSpan Settling => scale.Rest < LongestSettling ? scale.Rest : LongestSettling;

    public async Task<IReadOnlyList<ScaleResult>> RunAsync(CancellationToken cancellationToken)
    {
        var results = new List<ScaleResult>();
        foreach (ScaleDimension dimension in scale.Dimensions)
            results.Add(await RunAsync(dimension, cancellationToken));
        return results;
    }

    private async Task<ScaleResult> RunAsync(ScaleDimension dimension, CancellationToken cancellationToken)
    {
        (long few, long many) = scale.RangeOf(dimension);
        await using ScaleSide small = await ScaleSide.StartAsync(
            scale,
            dimension,
            few,
            settings.DataDirectory,
            console,
            cancellationToken
        );
        await using ScaleSide large = await ScaleSide.StartAsync(
            scale,
            dimension,
            many,
            settings.DataDirectory,
            console,
            cancellationToken
        );
        Task<ScaleResult> comparing = CompareAsync(dimension, small, large, cancellationToken);
        await small.WhileAliveAsync(large.WhileAliveAsync(comparing));
        return await comparing;
    }

    private async Task<ScaleResult> CompareAsync(
        ScaleDimension dimension,
        ScaleSide small,
        ScaleSide large,
        CancellationToken cancellationToken
    )
    {
        (long few, long many) = scale.RangeOf(dimension);
        await small.PrepareAsync(Settling, cancellationToken);
        await large.PrepareAsync(TimeSpan.Zero, cancellationToken);
        console.Progress($"{dimension.Word()}: at rest");
        await Task.Delay(Settling, cancellationToken);
        ProcessUsage before = large.Usage;
        await Task.Delay(scale.Rest, cancellationToken);
        ProcessUsage after = large.Usage;
        double? each = dimension is ScaleDimension.Topics or ScaleDimension.Connections
            ? Math.Round((after.ResidentBytes - small.Usage.ResidentBytes) / (double)(many - few))
            : null;

        await small.Load.StartAsync(cancellationToken);
        await large.Load.StartAsync(cancellationToken);
        var fewRates = new List<double>();
        var manyRates = new List<double>();
        for (int pair = 0; pair <= settings.Pairs; pair++)
        {
            fewRates.Add(await MeasureAsync(dimension, small, few, cancellationToken));
            manyRates.Add(await MeasureAsync(dimension, large, many, cancellationToken));
            console.Progress(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{dimension.Word()}, {(pair == 0 ? "warm-up" : $"pair {pair} of {settings.Pairs}")}: few "
                        + $"{fewRates[^1]:N0}, many {manyRates[^1]:N0} {UnitOf(dimension)}"
                )
            );
        }
        await small.CheckAsync(cancellationToken);
        await large.CheckAsync(cancellationToken);
        fewRates.RemoveAt(0);
        manyRates.RemoveAt(0);
        bool isDurable = dimension is ScaleDimension.Topics or ScaleDimension.Backlog;
        BenchSettings what = settings with { Kind = isDurable ? TopicKind.Durable : TopicKind.Transient };
        return new ScaleResult
        {
            Size = scale.Size,
            Kind = what.KindName,
            Ack = what.AckName,
            Api = "batch",
            Messages = scale.Messages,
            Yardstick = "few",
            Ratio = Math.Round(Median.Of(manyRates) / Median.Of(fewRates), 3),
            Pairs = settings.Pairs,
            Lost = small.Load.Lost + large.Load.Lost,
            Duplicated = small.Load.Duplicated + large.Load.Duplicated,
            Reordered = small.Load.Reordered + large.Load.Reordered,
            BrokerPeakRssBytes = large.Usage.PeakBytes,
            Runs = [.. manyRates.Select(r => Math.Round(r))],
            YardstickRuns = [.. fewRates.Select(r => Math.Round(r))],
            Scale = new ScaleFigures
            {
                Dimension = dimension.Word(),
                Few = few,
                Many = many,
                Unit = UnitOf(dimension),
                FewRate = Math.Round(Median.Of(fewRates)),
                ManyRate = Math.Round(Median.Of(manyRates)),
                RestBytes = small.RestBytes,
                IdleCpuPercent = Math.Round(100 * (after.CpuSeconds - before.CpuSeconds) / scale.Rest.TotalSeconds, 2),
                BytesEach = each,
            },
        };
    }

    private static string UnitOf(ScaleDimension dimension) =>
        dimension == ScaleDimension.Subscriptions ? "deliveries per broker CPU second" : "messages/s";

    private async Task<double> MeasureAsync(
        ScaleDimension dimension,
        ScaleSide side,
        long count,
        CancellationToken cancellationToken
    )
    {
        long subscriptions = dimension == ScaleDimension.Subscriptions ? count : 1;
        long each = Math.Max(1, scale.Messages / side.Topics.Count / subscriptions),
            deliveries = each * side.Topics.Count * subscriptions;
        double cpu = side.Usage.CpuSeconds;
        TimeSpan elapsed = await side.Load.RunAsync(each, cancellationToken);
        return deliveries
            / (
                dimension == ScaleDimension.Subscriptions
                    ? Math.Max(CpuTick, side.Usage.CpuSeconds - cpu)
                    : elapsed.TotalSeconds
            );
    }
}

using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Bench.Roles;

namespace LightQ.Bench.InProcess;

/// <summary>
/// How long a message takes from one pinned thread to another, run by run, beside a bare cache line between the same
/// two.
/// </summary>
internal sealed class InProcessBench(InProcessSettings settings, IBenchConsole console)
{
    /// <summary>
    /// The warm-up comes in rounds of many parts, each a call of what is measured. A method is compiled anew, first to
    /// learn and then for speed, when it was called thirty times behind a tenth of a second in which nothing new was;
    /// so there is a rest behind each round.
    /// </summary>
    private const int WarmUpRounds = 5,
        PartsOfRound = 40;

    private static readonly TimeSpan Rest = TimeSpan.FromMilliseconds(250);

    /// <summary>
    /// How long the line is sent on the run's schedule before each run: enough to meet the host's stops, a fifth of the
    /// usual run.
    /// </summary>
    private static readonly TimeSpan LineTime = TimeSpan.FromSeconds(2);

    /// <summary>
    /// How long a warm-up round keeps the schedule: a loop that never waited would be compiled as one that need not.
    /// </summary>
    private static readonly TimeSpan PacedWarmUp = TimeSpan.FromMilliseconds(100);

    private readonly List<string> _remarks = [];

    /// <summary>What the figures must be read with.</summary>
    public IReadOnlyList<string> Remarks => [.. _remarks.Distinct()];

    public async Task<IReadOnlyList<InProcessResult>> RunAsync(CancellationToken cancellationToken)
    {
        (int producer, int consumer) = settings.Cpus ?? ChooseCpus();
        _remarks.Add(
            Text($"Times count from when a message was due until it was read and checked; producer on CPU {producer}, ")
                + Text($"consumer on CPU {consumer}, both spin.")
        );
        var results = new List<InProcessResult>();
        foreach (InProcessTarget target in settings.Targets)
        {
            string directory = Directory
                .CreateDirectory(
                    Path.Combine(settings.DataDirectory ?? Path.GetTempPath(), $"lightq-bench-{Guid.NewGuid():N}")
                )
                .FullName;
            try
            {
                var spec = new HandOverSpec
                {
                    Target = target,
                    Size = settings.Size,
                    Directory = directory,
                    IsShared = settings.Processes == 2,
                    ConsumerCpu = consumer,
                };
                results.Add(await MeasureAsync(spec, producer, cancellationToken));
            }
            finally
            {
                Directory.Delete(directory, recursive: true);
            }
        }
        return results;
    }

    private static (int Producer, int Consumer) ChooseCpus() =>
        ThreadAffinity.Allowed() is [var first, var second, ..]
            ? (first, second)
            : throw new BenchException(
                BenchFailure.Failed,
                "Two threads that spin need two CPUs, and this process may use only one."
            );

    private async Task<InProcessResult> MeasureAsync(
        HandOverSpec spec,
        int producerCpu,
        CancellationToken cancellationToken
    )
    {
        // When one side ends, the other ends, too.
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        using HandOverLink link = HandOverLink.Open(spec);
        link.Begin();
        using var line = new CacheLine(spec.LineFile);
        using var producer = new PinnedThread("producer", producerCpu);
        await using IHandOverPartner consumer = spec.IsShared
            ? await ProcessPartner.StartAsync(spec, stop.Token)
            : new ThreadPartner(spec, link, line, stop.Token);
        var pair = new HandOverPair(spec.Target, link, line, producer, consumer, stop, cancellationToken);
        var lines = new List<LatencyFigures>();
        var runs = new List<RoleMessage>();
        try
        {
            console.Progress($"{spec.Target.Word()}, {spec.Size} B: warming up");
            await WarmUpAsync(pair, cancellationToken);
            LatencyHistogram before = await pair.PingAsync();
            for (int run = 1; run <= settings.Runs; run++)
            {
                await RestAsync(cancellationToken);
                LatencyFigures onLine = (await pair.SendLineAsync(PlanOf(LineTime))).LatencyUs!;
                await RestAsync(cancellationToken);
                runs.Add(await pair.SendAsync(new SendPlan(settings.Messages, settings.Rate)));
                LatencyHistogram after = await pair.PingAsync();
                before.Add(after);
                lines.Add(LatencyFigures.Of(before) with { LaterThan20UsPercent = onLine.LaterThan20UsPercent });
                before = after;
                LatencyFigures figures = runs[^1].LatencyUs!;
                console.Progress(
                    Text(
                        $"{spec.Target.Word()}, {spec.Size} B, run {run} of {settings.Runs}: p50 {figures.P50:F3} us, "
                    )
                        + Text($"p99 {figures.P99:F3} us, {figures.LaterThan20UsPercent:F2} % later than 20 us; line ")
                        + Text($"{lines[^1].P50:F3} us, {lines[^1].LaterThan20UsPercent:F2} %")
                );
            }
        }
        finally
        {
            await stop.CancelAsync();
        }
        if (!producer.IsPinned || !runs[0].IsPinned)
            _remarks.Add("The threads are NOT pinned to their CPUs: this system cannot, or refuses.");
        return Summarize(spec, runs, lines);
    }

    private async Task WarmUpAsync(HandOverPair pair, CancellationToken cancellationToken)
    {
        var part = new SendPlan(
            Math.Max(1, settings.WarmUpMessages / (WarmUpRounds * PartsOfRound)),
            double.PositiveInfinity
        );
        for (int round = 0; round < WarmUpRounds; round++)
        {
            for (int i = 0; i < PartsOfRound; i++)
            {
                await pair.SendAsync(part);
                await pair.SendLineAsync(part);
            }
            await pair.SendAsync(PlanOf(PacedWarmUp));
            await pair.SendLineAsync(PlanOf(PacedWarmUp));
            await pair.PingAsync();
            await RestAsync(cancellationToken);
        }
    }

    private SendPlan PlanOf(TimeSpan atMost) =>
        new(Math.Clamp((long)(settings.Rate * atMost.TotalSeconds), 1, settings.Messages), settings.Rate);

    /// <summary>
    /// Has done whatever the last run left behind to collect and to compile, before there is the next one.
    /// </summary>
    private static async Task RestAsync(CancellationToken cancellationToken)
    {
        GC.Collect();
        await Task.Delay(Rest, cancellationToken);
    }

    private InProcessResult Summarize(HandOverSpec spec, List<RoleMessage> runs, List<LatencyFigures> lines)
    {
        // Run by run: a virtual machine's CPUs may move further apart or closer together from one run to the next.
        double[] ratios = [.. runs.Zip(lines, (run, line) => run.LatencyUs!.P50 / line.P50)];
        double[] ratiosP99 = [.. runs.Zip(lines, (run, line) => run.LatencyUs!.P99 / line.P50)];
        return new InProcessResult
        {
            Size = spec.Size,
            Kind = spec.Target.Word(),
            Ack = spec.Target == InProcessTarget.Journal ? "written" : "memory",
            Api = spec.Target == InProcessTarget.Journal ? "batch" : "payload",
            Messages = settings.Messages,
            Yardstick = "line",
            Ratio = Math.Round(Median.Of(ratios), 3),
            RatioP99 = Math.Round(Median.Of(ratiosP99), 3),
            Pairs = settings.Runs,
            Lost = runs.Sum(r => r.Lost),
            Duplicated = runs.Sum(r => r.Duplicated),
            Reordered = runs.Sum(r => r.Reordered),
            Damaged = runs.Sum(r => r.Damaged),
            Rate = settings.Rate,
            LatencyUs = LatencyFigures.MedianOf([.. runs.Select(r => r.LatencyUs!)]),
            YardstickLatencyUs = LatencyFigures.MedianOf(lines),
            LatencyRunsUs = [.. runs.Select(r => r.LatencyUs!)],
            YardstickLatencyRunsUs = lines,
            Processes = settings.Processes,
        };
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}

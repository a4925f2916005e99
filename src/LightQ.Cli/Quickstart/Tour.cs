using System.Globalization;
using System.Text.Json;
using LightQ.Bench;
using LightQ.Bench.Sessions;
using LightQ.Cli.Output;
using LightQ.Client;
using Spectre.Console;

namespace LightQ.Cli.Quickstart;

/// <summary>Shows the broker at work: both kinds of topics, two sizes, every message checked.</summary>
internal sealed class Tour(long messages, OutputFormat output)
{
    private const double PacedRate = 1000;

    private static readonly TimeSpan PacedDuration = TimeSpan.FromSeconds(0.5);
    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(250);
    private static readonly LoadShape[] Shapes =
    [
        new(TopicKind.Transient, 100),
        new(TopicKind.Transient, 1024),
        new(TopicKind.Durable, 100),
        new(TopicKind.Durable, 1024),
    ];

    private readonly CommandConsole _console = new();

    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        var runs = new List<QuickstartRun>();
        try
        {
            _console.Progress("Starting a broker ...");
            await using BenchSession session = await BenchSession.StartAsync(new BenchSettings(), cancellationToken);
            IReadOnlyList<TourRuns> moved = await TourRounds.RunAsync(
                Shapes,
                (shape, round) => MoveAsync(session, shape, round, cancellationToken)
            );
            // The process that measures latency has a warm-up, too: the first shape's, whose messages count as the
            // others do.
            RunOutcome[] warmUp = [await PaceAsync(session, Shapes[0], cancellationToken)];
            foreach (TourRuns each in moved)
            {
                runs.Add(
                    QuickstartRun.Of(
                        SettingsOf(each.Shape),
                        messages,
                        each,
                        [.. warmUp, await PaceAsync(session, each.Shape, cancellationToken)]
                    )
                );
                warmUp = [];
            }
        }
        finally
        {
            _console.EndProgress();
        }
        Write(runs);
        return runs.All(r => r.Lost + r.Duplicated + r.Reordered + r.Damaged == 0) ? ExitCode.Ok : ExitCode.Failed;
    }

    private static BenchSettings SettingsOf(LoadShape shape) => new() { Kind = shape.Kind };

    private static string NameOf(LoadShape shape) => Text($"{SettingsOf(shape).KindName} topic, {shape.Size} B");

    private async Task<RunOutcome> MoveAsync(
        BenchSession session,
        LoadShape shape,
        int round,
        CancellationToken cancellationToken
    )
    {
        string name =
            round == 0 ? $"{NameOf(shape)}, warm-up" : Text($"{NameOf(shape)}, run {round} of {TourRounds.Measured}");
        Task<RunOutcome> moving = session.RunThroughputAsync(LoadTarget.LightQ, shape, messages, cancellationToken);
        await FollowAsync(session, name, moving, cancellationToken);
        return await moving;
    }

    private Task<RunOutcome> PaceAsync(BenchSession session, LoadShape shape, CancellationToken cancellationToken)
    {
        _console.Progress(Text($"{NameOf(shape)}: measuring latency at {PacedRate} messages/s ..."));
        return session.RunLatencyAsync(LoadTarget.LightQ, shape, PacedRate, PacedDuration, cancellationToken);
    }

    /// <summary>Shows how far a run is; without a terminal only that it began.</summary>
    private async Task FollowAsync(BenchSession session, string name, Task run, CancellationToken cancellationToken)
    {
        _console.Progress(Text($"{name}: moving {messages:N0} messages ..."));
        while (
            await Task.WhenAny(run, Task.Delay(ProgressInterval, cancellationToken)) != run
            && !cancellationToken.IsCancellationRequested
        )
        {
            if (Console.IsErrorRedirected)
                continue;
            long delivered = await session.CountDeliveredAsync(cancellationToken);
            _console.Progress(Text($"{name}: {delivered:N0} of {messages:N0} messages"));
        }
    }

    private void Write(List<QuickstartRun> runs)
    {
        if (output == OutputFormat.Json)
        {
            CommandConsole.Line(
                JsonSerializer.Serialize(
                    new QuickstartView(runs, Next(ToolPath.Typed)),
                    QuickstartJson.Default.QuickstartView
                )
            );
            return;
        }
        Table table = CommandConsole.Table(
            "topic",
            "size",
            "messages",
            "messages/s",
            "MiB/s",
            "p50 us",
            "p99 us",
            "acknowledged when",
            "checked"
        );
        foreach (QuickstartRun run in runs)
        {
            long faults = run.Lost + run.Duplicated + run.Reordered + run.Damaged;
            table.AddRow(
                run.Kind,
                Text($"{run.Size} B"),
                Text($"{run.Messages:N0}"),
                Text($"{run.MessagesPerSecond:N0}"),
                Text($"{run.MibPerSecond:N0}"),
                Text($"{run.LatencyP50Us:N0}"),
                Text($"{run.LatencyP99Us:N0}"),
                run.Durability == "fsync" ? "on disk (fdatasync)" : "in memory",
                faults == 0
                    ? "all, in order"
                    : $"{run.Lost} lost, {run.Duplicated} repeated, {run.Reordered} reordered, {run.Damaged} damaged"
            );
        }
        _console.Tables.Write(table);
        CommandConsole.Line("Messages went from a producer's process over TCP through the broker to a consumer's.");
        CommandConsole.Line(
            Text($"Rates are medians of {TourRounds.Measured} runs, after a warm-up and in turns. Try next, the first ")
                + Text($"in a terminal of its own:")
        );
        foreach (string command in Next(ToolPath.Typed))
            CommandConsole.Line($"  {command}");
    }

    private static string[] Next(string tool) =>
        [
            $"{tool} server --data ./lightq-data",
            $"{tool} topic create hello --kind durable",
            $"{tool} pub hello 'Hello, LightQ' && {tool} sub hello --from earliest --count 1",
        ];

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}

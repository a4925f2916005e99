using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using LightQ.Bench.Nats;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Clusters;

/// <summary>
/// A cluster on this machine, for as long as the command runs; under load and faults if that is wanted.
/// </summary>
internal sealed class TryRun
{
    private const int Brokers = 3;

    private static readonly TimeSpan Refresh = TimeSpan.FromMilliseconds(500),
        Patience = TimeSpan.FromSeconds(60);

    private readonly CommandConsole _console = new();
    private readonly Stopwatch _watch = new();
    private TryBroker[] _brokers = [];
    private Func<string>? _caption;

    public required string Folder { get; init; }

    /// <summary>What is done under load, in turn; none for no load.</summary>
    public IReadOnlyList<TryFault> Faults { get; init; } = [];

    /// <summary>The time between two faults.</summary>
    public TimeSpan Every { get; init; }

    /// <summary>How long; null until it is cancelled.</summary>
    public TimeSpan? Duration { get; init; }

    public bool IsJson { get; init; }

    private string ConnectionString =>
        $"lightq://{string.Join(',', _brokers.Select(b => b.DataAddress))}"
        + $"?control={string.Join(',', _brokers.Select(b => b.ControlPort.ToString(CultureInfo.InvariantCulture)))}";

    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        _console.Progress("Starting three nats-servers ...");
        await using NatsServers engine = await NatsServers.StartAsync(Folder, syncAlways: null, cancellationToken);
        string servers = string.Join(',', engine.Addresses),
            monitoring = string.Join(',', engine.Monitoring);
        _brokers =
        [
            .. Enumerable
                .Range(1, Brokers)
                .Select(i => new TryBroker(
                    string.Create(CultureInfo.InvariantCulture, $"b{i}"),
                    Folder,
                    servers,
                    engine.SyncsAlways ? monitoring : null
                )),
        ];
        try
        {
            _console.Progress("Starting three brokers ...");
            await Task.WhenAll(_brokers.Select(broker => broker.StartAsync(cancellationToken)));
            _console.EndProgress();
            Announce(engine);
            using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            if (Duration is { } duration)
                end.CancelAfter(duration);
            return Faults.Count > 0 ? await RunLoadAsync(engine, end.Token) : await ShowAsync(end.Token);
        }
        finally
        {
            await Task.WhenAll(_brokers.Select(broker => broker.DisposeAsync().AsTask()));
        }
    }

    private void Announce(NatsServers engine)
    {
        string name = $"nats-server {engine.Version}";
        if (IsJson)
        {
            CommandConsole.Line(
                JsonSerializer.Serialize(
                    new TryStart(ConnectionString, name, engine.SyncsAlways, Folder),
                    ClustersJson.Default.TryStart
                )
            );
            return;
        }
        CommandConsole.Line($"Three brokers on three {name}, below {Folder}. Clients connect with");
        CommandConsole.Line(ConnectionString);
        if (!engine.SyncsAlways)
        {
            CommandConsole.Line(
                $"{name} has no sync_interval, so RequireSync is false here: a power cut of all machines at once may "
                    + "take the last two minutes. Run 2.12.3 or later in production."
            );
        }
    }

    private async Task<int> ShowAsync(CancellationToken end)
    {
        await using var client = new LightQClient(ConnectionString);
        Task waiting = Task.Delay(Timeout.InfiniteTimeSpan, end);
        Task ended = waiting.ContinueWith(static _ => { }, TaskScheduler.Default);
        await (IsJson ? ended : LiveAsync(client, ended));
        return ExitCode.Ok;
    }

    private async Task<int> RunLoadAsync(NatsServers engine, CancellationToken end)
    {
        await using var client = new LightQClient(ConnectionString);
        string topic = string.Create(CultureInfo.InvariantCulture, $"try-{DateTime.UtcNow:yyyyMMdd-HHmmss}");
        await using var load = new TryLoad(ConnectionString, topic);
        var nemesis = new TryNemesis(engine, _brokers, load);
        _caption = () => Describe(load, nemesis);
        await load.StartAsync(end);
        _watch.Start();
        Task faults = Task.Run(() => nemesis.RunAsync(client, topic, Faults, Every, Tell, end), CancellationToken.None);
        await load.WhileWorkingAsync(IsJson ? faults : LiveAsync(client, faults));
        _watch.Stop();
        _console.Progress("Waiting for the last messages ...");
        long lost = await load.EndAsync(Patience, CancellationToken.None);
        _console.EndProgress();
        var result = new TryView(
            $"nats-server {engine.Version}",
            engine.SyncsAlways,
            Math.Round(_watch.Elapsed.TotalSeconds, 1),
            nemesis.Kills,
            nemesis.Results,
            load.Acknowledged,
            load.Consumed,
            lost,
            load.Duplicated,
            Math.Round(load.LongestSilence.TotalMilliseconds)
        );
        await client.Topics.DeleteAsync(topic, CancellationToken.None);
        Show(result);
        return lost == 0 && load.Duplicated == 0 ? ExitCode.Ok : ExitCode.Failed;
    }

    /// <summary>A line for each fault, where no table shows the cluster.</summary>
    private void Tell(string fault)
    {
        if (!IsJson && Console.IsOutputRedirected)
            CommandConsole.Line(Invariant($"{_watch.Elapsed.TotalSeconds:0.0} s: {fault}"));
    }

    private void Show(TryView result)
    {
        if (IsJson)
        {
            CommandConsole.Line(JsonSerializer.Serialize(result, ClustersJson.Default.TryView));
            return;
        }
        _console.Tables.Write(CommandConsole.Rows(Rows(result)));
        Table faults = CommandConsole.Table("fault", "times", "silence p50", "longest");
        foreach (FaultView fault in result.Faults)
        {
            faults.AddRow(
                fault.Fault,
                Invariant($"{fault.Times}"),
                Invariant($"{fault.MedianSilenceMs:N0} ms"),
                Invariant($"{fault.LongestSilenceMs:N0} ms")
            );
        }
        _console.Tables.Write(faults);
    }

    /// <summary>Shows the cluster until something ends.</summary>
    private async Task LiveAsync(LightQClient client, Task work)
    {
        if (Console.IsOutputRedirected)
        {
            await work;
            return;
        }
        await _console
            .Tables.Live(new Table())
            .AutoClear(false)
            .StartAsync(async live =>
            {
                while (!work.IsCompleted)
                {
                    try
                    {
                        live.UpdateTarget(ToTable(await client.Cluster.GetAsync()));
                    }
                    catch (LightQException e) when (e.IsTransient)
                    {
                        // The node that was asked is down: another one answers next time.
                    }
                    await Task.WhenAny(work, Task.Delay(Refresh));
                }
            });
        await work;
    }

    private Table ToTable(ClusterInfo cluster)
    {
        Table table = CommandConsole.Table("node", "state", "leads", "data");
        foreach (NodeInfo node in cluster.Nodes)
        {
            table.AddRow(
                Markup.Escape(node.Name),
                node.State.ToString().ToLowerInvariant(),
                Invariant($"{node.Leads}"),
                Markup.Escape(node.DataAddress)
            );
        }
        if (_caption is not null)
            table.Caption(_caption());
        return table;
    }

    private static string Describe(TryLoad load, TryNemesis nemesis) =>
        Invariant($"{load.Acknowledged:N0} acknowledged, {load.Consumed:N0} consumed, ")
        + Invariant($"{load.Duplicated} twice, {nemesis.Count} faults, longest silence ")
        + DurationText.Format(TimeSpan.FromMilliseconds(Math.Round(load.LongestSilence.TotalMilliseconds)));

    private static IEnumerable<(string Name, string Value)> Rows(TryView result) =>
        [
            ("time", Invariant($"{result.Seconds} s")),
            ("faults", Invariant($"{result.Faults.Sum(f => f.Times)}")),
            ("acknowledged", Invariant($"{result.Acknowledged:N0}")),
            ("consumed", Invariant($"{result.Consumed:N0}")),
            ("lost", Invariant($"{result.Lost:N0}")),
            ("duplicated", Invariant($"{result.Duplicated:N0}")),
            ("longest silence", Invariant($"{result.LongestSilenceMs:N0} ms")),
        ];

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}

using System.Globalization;
using System.Text.Json.Nodes;
using LightQ.Client;
using LightQ.DashboardTests.Figures;
using LightQ.IntegrationTests.Cli;
using Microsoft.Playwright;
using Xunit;

namespace LightQ.DashboardTests;

/// <summary>
/// Measures what the dashboard costs, where LIGHTQ_DASHBOARD_FIGURES names the page that gets the tables. The brokers
/// are processes of their own. Asserts nothing of times: the page says what was measured.
/// </summary>
[Collection(AloneCollection.Name)]
public sealed class FiguresTests(Browser browser)
{
    private const string Variable = "LIGHTQ_DASHBOARD_FIGURES";
    private const int Topics = 10_000,
        DurableTopics = 500,
        TopicsWithGroups = 100,
        GroupsPerTopic = 10,
        Connections = 5_000,
        AtOnce = 16;

    /// <summary>To see that it works, not for figures.</summary>
    private static readonly bool IsShort = Environment.GetEnvironmentVariable("LIGHTQ_DASHBOARD_SHORT") is "1";

    private static readonly int Pairs = IsShort ? 2 : 5,
        Rounds = IsShort ? 2 : 7,
        Visits = IsShort ? 2 : 5;

    private static readonly TimeSpan Rest = TimeSpan.FromSeconds(5),
        Open = TimeSpan.FromSeconds(IsShort ? 30 : 90),
        Round = TimeSpan.FromSeconds(IsShort ? 5 : 10);

    private readonly List<IRequest> _files = [];

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task What_the_dashboard_costs()
    {
        string file = Environment.GetEnvironmentVariable(Variable) ?? "";
        Assert.SkipWhen(file.Length == 0, $"{Variable} names no page.");
        string load = (await File.ReadAllTextAsync("/proc/loadavg", Cancel)).Split(' ')[0];
        string program = LightQTool.IsNative ? "the native program" : "the built tool (compiled while it runs)";
        string[] tables =
        [
            await StartAsync(),
            await OpenAsync(),
            await LatencyAsync(),
            await PagesAsync(),
            $"With {program}, {DateTime.UtcNow:yyyy-MM-dd}; load of the machine before: {load}"
                + (IsShort ? "; a short run." : "."),
        ];
        await MeasuredPage.WriteAsync(file, "dashboard", string.Join("\n\n", tables));
    }

    private static string Ms(TimeSpan time) => time.TotalMilliseconds.ToString("0.00", CultureInfo.InvariantCulture);

    private static string Ms0(double milliseconds) => milliseconds.ToString("0", CultureInfo.InvariantCulture);

    private static string MiB(long bytes) => (bytes / 1048576.0).ToString("0.0", CultureInfo.InvariantCulture);

    /// <summary>Memory of the process, shared files included.</summary>
    private static long ResidentBytes(ToolServer server)
    {
        const string Resident = "VmRSS:";
        string line = File.ReadLines($"/proc/{server.Process.Id}/status")
            .Single(l => l.StartsWith(Resident, StringComparison.Ordinal));
        return 1024 * long.Parse(line[Resident.Length..^"kB".Length].Trim(), CultureInfo.InvariantCulture);
    }

    private static T MedianOf<T>(IEnumerable<T> values)
    {
        T[] sorted = [.. values.Order()];
        return sorted[sorted.Length / 2];
    }

    /// <summary>With and without the dashboard, which nobody opens, in turns.</summary>
    private static async Task<string> StartAsync()
    {
        var found = new List<(bool Has, TimeSpan Start, long Memory)>();
        using var directory = new Folder();
        for (int pair = 0; pair <= Pairs; pair++)
        {
            foreach (bool has in (bool[])[pair % 2 == 0, pair % 2 != 0])
            {
                await using ToolServer broker = await DashboardBroker.StartToolAsync(directory.Path, has);
                await Task.Delay(Rest, Cancel);
                // The first pair makes the data directory, and is no figure.
                if (pair != 0)
                    found.Add((has, broker.StartTime, ResidentBytes(broker)));
            }
        }
        string[] rows =
        [
            .. ((bool[])[true, false]).Select(has =>
            {
                (bool, TimeSpan Start, long Memory)[] of = [.. found.Where(f => f.Has == has)];
                return $"| {(has ? "with the dashboard, never opened" : "`Dashboard:IsEnabled` is `false`")} "
                    + $"| {Ms0(MedianOf(of.Select(f => f.Start)).TotalMilliseconds)} "
                    + $"({Ms0(of.Min(f => f.Start.TotalMilliseconds))} to "
                    + $"{Ms0(of.Max(f => f.Start.TotalMilliseconds))}) "
                    + $"| {MiB(MedianOf(of.Select(f => f.Memory)))} "
                    + $"({MiB(of.Min(f => f.Memory))} to {MiB(of.Max(f => f.Memory))}) |";
            }),
        ];
        return $"""
            | broker, median of {Pairs} in turns | start ms | memory at rest MiB |
            |---|---|---|
            {string.Join('\n', rows)}
            """;
    }

    /// <summary>One broker with a page and one without, side by side.</summary>
    private async Task<string> OpenAsync()
    {
        await using DashboardBroker watched = await DashboardBroker.StartToolAsync();
        await using DashboardBroker alone = await DashboardBroker.StartToolAsync();
        foreach (DashboardBroker broker in (DashboardBroker[])[watched, alone])
        {
            for (int i = 0; i < 100; i++)
                await broker.CreateTopicAsync($"topic-{i}");
        }
        await Task.Delay(Rest, Cancel);
        long before = ResidentBytes(watched.Tool!),
            aloneBefore = ResidentBytes(alone.Tool!);
        await using Window window = await browser.OpenAsync(watched);
        window.Page.RequestFinished += (_, request) => _files.Add(request);
        await window.GoAsync("/", "Overview");
        await Task.Delay(Open, Cancel);
        long after = ResidentBytes(watched.Tool!),
            aloneAfter = ResidentBytes(alone.Tool!);
        long download = 0;
        foreach (IRequest request in _files.Where(r => r.Method == "GET"))
            download += (await request.SizesAsync()).ResponseBodySize;
        return $"""
            | broker with 100 topics | memory MiB | {Open.TotalSeconds:0} s later |
            |---|---|---|
            | the overview is open | {MiB(before)} | {MiB(after)} |
            | not opened | {MiB(aloneBefore)} | {MiB(aloneAfter)} |

            First download of the page: {MiB(download)} MiB compressed, {_files.Count(r =>
                r.Method == "GET"
            )} files.
            """;
    }

    /// <summary>The time of acks, without a page, with its stream alone, and with a page, in turns.</summary>
    private async Task<string> LatencyAsync()
    {
        await using DashboardBroker broker = await DashboardBroker.StartToolAsync();
        await broker.CreateTopicAsync("orders");
        await using var client = new LightQClient(broker.Tool!.Url);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancel);
        await AckLatency.MeasureAsync(producer, Round);
        string[] names = ["no page", "the page's stream alone", "an open page, its browser on the same cores"];
        var found = names.ToDictionary(n => n, _ => new List<(TimeSpan Median, TimeSpan P99)>());
        for (int round = 0; round < Rounds; round++)
        {
            for (int i = 0; i < names.Length; i++)
            {
                string name = names[(round + i) % names.Length];
                await using IAsyncDisposable beside = await BesideAsync(broker, Array.IndexOf(names, name));
                await Task.Delay(TimeSpan.FromSeconds(2), Cancel);
                found[name].Add(await AckLatency.MeasureAsync(producer, Round));
            }
        }
        string[] rows =
        [
            .. found.Select(f =>
                $"| {f.Key} | {Ms(MedianOf(f.Value.Select(v => v.Median)))} "
                + $"| {Ms(MedianOf(f.Value.Select(v => v.P99)))} "
                + $"| {Ms(f.Value.Min(v => v.P99))} to {Ms(f.Value.Max(v => v.P99))} |"
            ),
        ];
        return $"""
            | publish to ack, durable topic, 1,000 messages/s of 512 B, median of {Rounds} rounds in turns | p50 ms | p99 ms | p99 from, to |
            |---|---|---|---|
            {string.Join('\n', rows)}
            """;
    }

    private async Task<IAsyncDisposable> BesideAsync(DashboardBroker broker, int what)
    {
        if (what == 0)
            return new Stopped(() => Task.CompletedTask);
        if (what == 1)
        {
            var ended = new CancellationTokenSource();
            Task reading = broker.WatchAsync(["orders"], ended.Token);
            return new Stopped(async () =>
            {
                await ended.CancelAsync();
                await reading;
                ended.Dispose();
            });
        }
        Window window = await browser.OpenAsync(broker);
        await window.GoAsync("/topics/orders", "orders");
        return window;
    }

    /// <summary>How long a page takes from the click until it shows what it is for.</summary>
    private async Task<string> PagesAsync()
    {
        int groups = TopicsWithGroups * GroupsPerTopic;
        await using DashboardBroker broker = await DashboardBroker.StartToolAsync();
        await FillAsync(broker);
        using IdleClients idle = await IdleClients.OpenAsync(broker.Tool!.DataPort, Connections);
        await using Window window = await browser.OpenAsync(broker);
        await window.GoAsync("/settings", "Settings");
        (string Path, string Heading, int Rows)[] pages =
        [
            ("/", "Overview", 0),
            ("/topics", "Topics", 50),
            ("/topics/topic-00042", "topic-00042", 0),
            ("/groups", "Groups", 50),
            ("/groups/topic-00042/group-3", "group-3", 0),
            ("/connections", "Connections", 50),
            ("/users", "Users and rights", 0),
            ("/cluster", "Cluster", 50),
            ("/audit", "Audit log", 1),
            ("/settings", "Settings", 0),
        ];
        var found = pages.ToDictionary(p => p.Path, _ => new List<double>());
        for (int visit = 0; visit < Visits; visit++)
        {
            foreach ((string path, string heading, int rows) in pages)
            {
                found[path]
                    .Add(
                        await window.Page.EvaluateAsync<double>(
                            """
                            async ([path, heading, rows]) => {
                              const begun = performance.now();
                              Blazor.navigateTo(path);
                              const isThere = () => document.querySelector('h1')?.textContent === heading
                                && !document.body.textContent.includes('Reading…')
                                && document.querySelectorAll('main tbody tr').length >= rows;
                              while (!isThere()) {
                                if (performance.now() - begun > 60000) throw new Error(path + ' is not there after a minute');
                                await new Promise(next => requestAnimationFrame(next));
                              }
                              return performance.now() - begun;
                            }
                            """,
                            new object[] { path, heading, rows }
                        )
                    );
                await Task.Delay(TimeSpan.FromSeconds(1), Cancel);
            }
        }
        Assert.Null(idle.End);
        string[] lines =
        [
            .. pages.Select(p =>
                $"| {p.Heading} | {Ms0(found[p.Path][0])} | {Ms0(MedianOf(found[p.Path]))} "
                + $"| {Ms0(found[p.Path].Max())} |"
            ),
        ];
        return $"""
            | page, of {Topics:N0} topics, {groups:N0} groups, {Connections:N0} connections | first ms | median of {Visits} | longest |
            |---|---|---|---|
            {string.Join('\n', lines)}
            """;
    }

    private static async Task FillAsync(DashboardBroker broker)
    {
        await Parallel.ForAsync(
            0,
            Topics,
            new ParallelOptions { MaxDegreeOfParallelism = AtOnce, CancellationToken = Cancel },
            async (i, _) =>
                await broker.PostAsync(
                    "/v1/topics",
                    new JsonObject
                    {
                        ["name"] = $"topic-{i:00000}",
                        ["settings"] = new JsonObject
                        {
                            ["kind"] = i < DurableTopics ? "TOPIC_KIND_DURABLE" : "TOPIC_KIND_TRANSIENT",
                        },
                    }
                )
        );
        await Parallel.ForAsync(
            0,
            TopicsWithGroups,
            new ParallelOptions { MaxDegreeOfParallelism = AtOnce, CancellationToken = Cancel },
            async (i, _) =>
            {
                await broker.PublishAsync($"topic-{i:00000}", "one", "two");
                for (int group = 0; group < GroupsPerTopic; group++)
                    await broker.FetchAsync($"topic-{i:00000}", $"group-{group}", null);
            }
        );
    }

    private sealed class Stopped(Func<Task> stop) : IAsyncDisposable
    {
        public ValueTask DisposeAsync() => new(stop());
    }

    private sealed class Folder : IDisposable
    {
        private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("lightq-dashboard-");

        public string Path => _directory.FullName;

        public void Dispose() => _directory.Delete(recursive: true);
    }
}

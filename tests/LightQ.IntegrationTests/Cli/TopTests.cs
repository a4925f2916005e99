using System.Diagnostics;
using System.Text.Json;
using LightQ.Cli.Output;
using LightQ.Cli.Top;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq top</c>: one table for scripts, and a live one for people.</summary>
public sealed class TopTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task One_table_has_exact_figures_and_is_sorted_and_cut_as_asked()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, "little", 1);
        await PublishAsync(client, "much", 12_345);
        await server.CreateTopicAsync("nothing");

        string[] lines = await LinesAsync(server, "--sort", "lag", "--top", "2", "--interval", "none");
        Assert.Equal(3, lines.Length);
        string[] columns = Words(lines[0]);
        Assert.Equal(["topic", "in", "out", "backlog", "lag"], columns[..5]);
        Assert.Equal(["much", "little"], lines[1..].Select(line => Words(line)[0]));
        Assert.Equal("12345", Words(lines[1])[Array.IndexOf(columns, "lag")]);
        Assert.Equal("workers", Words(lines[1])[Array.IndexOf(columns, "slowest-group")]);
        Assert.Equal("-", Words(lines[1])[Array.IndexOf(columns, "in")]);

        lines = await LinesAsync(server, "--sort", "topic", "--reverse", "--interval", "100ms");
        Assert.Equal(["nothing", "much", "little"], lines[1..].Select(line => Words(line)[0]));
        Assert.Equal("0", Words(lines[1])[Array.IndexOf(columns, "in")]);

        JsonElement group = (await JsonAsync(server, "groups", "--top", "1")).GetProperty("groups")[0];
        Assert.Equal(
            ("much", "workers", 12_345, 0),
            (
                group.GetProperty("topic").GetString(),
                group.GetProperty("group").GetString(),
                group.GetProperty("lag").GetInt64(),
                group.GetProperty("clients").GetInt32()
            )
        );
        Assert.True((await JsonAsync(server, "connections")).GetProperty("connections").GetArrayLength() > 0);
        Assert.Equal(
            JsonValueKind.Array,
            (await JsonAsync(server, "subscribers")).GetProperty("subscribers").ValueKind
        );
        Assert.Single((await JsonAsync(server, "nodes")).GetProperty("nodes").EnumerateArray().ToArray());
        Assert.Equal(3, (await JsonAsync(server, "partitions")).GetProperty("partitions").GetArrayLength());
    }

    [Fact]
    public async Task A_wrong_column_is_answered_with_those_that_there_are() =>
        (await LightQTool.RunAsync("lightq://127.0.0.1", "top", "--view", "groups", "--sort", "in")).FailedWith(
            ExitCode.Usage,
            "'in' is no column of groups; it has topic, group, lag"
        );

    [Fact]
    public async Task Without_a_broker_it_ends_at_once_and_draws_nothing()
    {
        int port = FreePorts.Find(2);
        ToolResult result = await LightQTool.RunAsync($"lightq://127.0.0.1:{port}?control={port + 1}", "top");
        result.FailedWith(ExitCode.Unavailable, "lightq: ");
    }

    [Fact]
    public async Task Keys_show_views_sort_and_scroll_and_a_window_of_any_size_is_filled()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, "much", 100);
        foreach (int i in Enumerable.Range(0, 40))
            await server.CreateTopicAsync($"topic-with-a-name-that-is-quite-long-{i:00}");
        var terminal = new FakeTerminal();
        await using var session = new Session(client, terminal);

        await session.ShowsAsync(lines => lines[2].StartsWith("topic ", StringComparison.Ordinal));
        Assert.Contains("1[topics]", terminal.Lines[1], StringComparison.Ordinal);
        Assert.Contains("in*", terminal.Lines[2], StringComparison.Ordinal);
        Assert.Equal(24, terminal.Lines.Length);
        Assert.All(terminal.Lines, line => Assert.InRange(line.Length, 0, 80));
        Assert.Contains("q quit", terminal.Lines[^1], StringComparison.Ordinal);
        await session.ShowsAsync(lines => lines[^1].StartsWith("1-20 of 41", StringComparison.Ordinal));

        (terminal.Width, terminal.Height) = (160, 50);
        await session.ShowsAsync(lines => lines.Length == 50 && lines[2].Contains("slowest-group"));
        (terminal.Width, terminal.Height) = (80, 10);
        await session.ShowsAsync(lines => lines.Length == 10 && lines.All(line => line.Length <= 80));

        terminal.Press(ConsoleKey.LeftArrow); // From the column in to topic.
        await session.ShowsAsync(lines => lines[2].Contains("topic*") && lines[3].StartsWith("much"));
        terminal.Press(ConsoleKey.DownArrow);
        await session.ShowsAsync(lines => lines[3].StartsWith("topic-w") && lines[^1].StartsWith("2-7 of 7+"));
        terminal.Press(ConsoleKey.R);
        terminal.Press(ConsoleKey.Home);
        await session.ShowsAsync(lines => lines[3].StartsWith("topic-with", StringComparison.Ordinal));

        terminal.Press('2');
        await session.ShowsAsync(lines => lines[1].Contains("2[groups]") && lines[3].StartsWith("much"));
        Assert.Equal(["much", "workers", "100"], Words(terminal.Lines[3])[..3]);
        terminal.Press('5');
        await session.ShowsAsync(lines => lines[1].Contains("is a broker without a cluster"));

        terminal.Press('q');
        terminal.Press(ConsoleKey.Q, 'q');
        await session.EndAsync();
        Assert.Equal(Ansi.Enter, terminal.Written[0]);
        Assert.Equal(Ansi.Leave, terminal.Written[^1]);
        Assert.DoesNotContain(terminal.Written, text => text.Contains("\u001b[31m", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_lost_broker_is_reported_and_found_again()
    {
        int port = FreePorts.Find(3);
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPort = port,
                ControlPort = port + 1,
                WebPort = port + 2,
            }
        );
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, "orders", 10);
        var terminal = new FakeTerminal { HasColours = true };
        await using var session = new Session(client, terminal);
        await session.ShowsAsync(lines => lines[3].StartsWith("orders", StringComparison.Ordinal));

        await server.RestartAsync(() =>
            session
                .ShowsAsync(lines =>
                    lines[^1].Contains("trying again") && lines[3].StartsWith("orders", StringComparison.Ordinal)
                )
                .GetAwaiter()
                .GetResult()
        );

        await session.ShowsAsync(lines => lines[^1].Contains("q quit") && lines[3].StartsWith("orders"));
        session.Cancel();
        await session.EndAsync();
        Assert.Contains(terminal.Written, text => text.Contains("\u001b[31m", StringComparison.Ordinal));
        Assert.Equal(Ansi.Leave, terminal.Written[^1]);
    }

    [Fact]
    public async Task By_name_only_the_pages_that_are_shown_are_asked_for()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (int i in Enumerable.Range(0, 150))
            await server.CreateTopicAsync($"t{i:000}");
        await using var client = new LightQClient(server.ConnectionString);
        var view = new TopicsView();
        using var calls = new CountedCalls(server.ControlPort, "ListTopicStats");

        await view.ReadAsync(client, new TopOrder("topic", IsReversed: false), 20, Cancelled);
        Assert.Equal((1, 20), (await calls.SettledAsync(1), view.Count));
        await view.ReadAsync(client, new TopOrder("lag", IsReversed: false), 20, Cancelled);
        Assert.Equal((3, 150), (await calls.SettledAsync(3), view.Count));
    }

    [Theory]
    [InlineData("q", "0")]
    [InlineData("\u0003", "0")] // Ctrl-C
    [InlineData("\u0003\u0003\u0003", "(0|130)")] // A second one while it ends makes it end at once.
    public async Task In_a_real_terminal_it_leaves_everything_as_it_was(string keys, string exitCode)
    {
        Assert.SkipUnless(File.Exists("/usr/bin/script"), "There is no 'script', which makes a terminal.");
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        string command =
            $"trap : INT; stty rows 30 cols 100; stty -g; {LightQTool.Typed} top --server "
            + $"'{server.ConnectionString}'; echo ended $?; stty -g";
        // A program whose parent ignores Ctrl-C ignores it, too: so does what runs in the background of a script.
        var start = new ProcessStartInfo(
            "/usr/bin/env",
            ["--default-signal=INT,QUIT", "/usr/bin/script", "-qfec", command, "/dev/null"]
        )
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        // Ctrl-C goes to the shell as well; one without a trap goes on behind the tool in some shells, and not in all.
        start.Environment["SHELL"] = "/bin/sh";
        start.Environment["TERM"] = "xterm-256color";
        start.Environment["NO_COLOR"] = "1";
        using var process = Process.Start(start)!;
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        patience.CancelAfter(Patience);
        var text = new System.Text.StringBuilder();
        char[] block = new char[4096];
        bool isPressed = false;
        while (await process.StandardOutput.ReadAsync(block, patience.Token) is > 0 and var count)
        {
            text.Append(block, 0, count);
            if (isPressed || !text.ToString().Contains("1-1 of 1", StringComparison.Ordinal))
                continue;
            isPressed = true;
            await process.StandardInput.WriteAsync(keys);
            await process.StandardInput.FlushAsync(Cancelled);
        }
        await LightQTool.EndAsync(process);

        string all = text.ToString();
        Assert.Matches($"ended {exitCode}\r", all);
        string[] settings =
        [
            .. all.Split('\n')
                .Select(l => l.Trim('\r'))
                .Where(l => l.Count(c => c == ':') > 20 && !l.Contains('\u001b')),
        ];
        Assert.Equal(2, settings.Length);
        Assert.Equal(settings[0], settings[1]);
        int entered = all.IndexOf(Ansi.Enter, StringComparison.Ordinal),
            left = all.LastIndexOf(Ansi.Leave, StringComparison.Ordinal);
        Assert.True(entered >= 0 && left > entered);
        Assert.True(all.IndexOf("orders", StringComparison.Ordinal) is var at && at > entered && at < left);
        Assert.DoesNotMatch("\u001b\\[[0-9;]*3[0-9]m", all);
    }

    private static async Task PublishAsync(LightQClient client, string topic, int count)
    {
        await client.Topics.CreateAsync(new TopicSpec(topic) { Kind = TopicKind.Durable }, Cancelled);
        await using (
            IAsyncEnumerator<Message> worker = client
                .ConsumeAsync(
                    topic,
                    new ConsumeOptions { Group = "workers", SettleMode = SettleMode.Explicit },
                    Cancelled
                )
                .GetAsyncEnumerator(Cancelled)
        )
        {
            ValueTask<bool> first = worker.MoveNextAsync();
            await Eventually.TrueAsync(
                async () => (await client.Groups.ListAsync(topic, Cancelled)).Count == 1,
                Patience,
                () => "there is no group"
            );
            await using Producer producer = await client.CreateProducerAsync(topic, cancellationToken: Cancelled);
            for (int i = 0; i < count; i++)
            {
                while (!producer.TryPublish("x"u8))
                    await producer.WaitForRoomAsync(Cancelled);
            }
            await producer.FlushAsync(Cancelled);
            await first;
        }
        await Eventually.TrueAsync(
            async () => (await client.Groups.GetAsync(topic, "workers", Cancelled)).ClientsCount == 0,
            Patience,
            () => "the member does not leave"
        );
    }

    private static string[] Words(string line) => line.Split(' ', StringSplitOptions.RemoveEmptyEntries);

    private static async Task<string[]> LinesAsync(TestServer server, params string[] more) =>
        (await LightQTool.RunAsync(server.ConnectionString, ["top", "--once", .. more]))
            .Succeeded()
            .Text.Split('\n', StringSplitOptions.RemoveEmptyEntries);

    private static async Task<JsonElement> JsonAsync(TestServer server, string view, params string[] more) =>
        JsonDocument
            .Parse(
                (
                    await LightQTool.RunAsync(
                        server.ConnectionString,
                        ["top", "--once", "--interval", "none", "--view", view, "--output", "json", .. more]
                    )
                )
                    .Succeeded()
                    .Text
            )
            .RootElement;

    /// <summary>A live table under way.</summary>
    private sealed class Session : IAsyncDisposable
    {
        private readonly CancellationTokenSource _ended = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        private readonly FakeTerminal _terminal;
        private readonly Task _run;

        public Session(LightQClient client, FakeTerminal terminal)
        {
            _terminal = terminal;
            var settings = new TopSettings
            {
                View = "topics",
                Interval = TimeSpan.FromMilliseconds(100),
                Server = client.Options.ToString(),
            };
            _run = Task.Run(() => new TopSession(client, settings, terminal).RunAsync(_ended.Token));
        }

        public Task ShowsAsync(Func<string[], bool> what) =>
            Eventually.TrueAsync(
                () => _run.IsFaulted || (_terminal.Lines is { Length: > 3 } lines && what(lines)),
                Patience,
                () => string.Join('\n', _terminal.Lines)
            );

        public void Cancel() => _ended.Cancel();

        public Task EndAsync() => _run.WaitAsync(Patience, Cancelled);

        public async ValueTask DisposeAsync()
        {
            await _ended.CancelAsync();
            await _run.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            _ended.Dispose();
        }
    }

    /// <summary>Counts calls of one broker's control plane, by its spans.</summary>
    private sealed class CountedCalls : IDisposable
    {
        private readonly ActivityListener _listener;
        private int _count;

        public CountedCalls(int port, string method)
        {
            _listener = new ActivityListener
            {
                ShouldListenTo = source => source.Name == LightQ.Server.LightQServerTelemetry.ActivitySourceName,
                Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
                ActivityStopped = activity =>
                {
                    if (
                        Equals(activity.GetTagItem("rpc.method"), method)
                        && Convert.ToInt32(
                            activity.GetTagItem("server.port"),
                            System.Globalization.CultureInfo.InvariantCulture
                        ) == port
                    )
                    {
                        Interlocked.Increment(ref _count);
                    }
                },
            };
            ActivitySource.AddActivityListener(_listener);
        }

        /// <summary>A span ends a moment after its answer: waits for so many, and gives how many there are.</summary>
        public async Task<int> SettledAsync(int expected)
        {
            await Eventually.TrueAsync(
                () => Volatile.Read(ref _count) >= expected,
                Patience,
                () => $"{Volatile.Read(ref _count)} calls"
            );
            return Volatile.Read(ref _count);
        }

        public void Dispose() => _listener.Dispose();
    }
}

using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Top;

/// <summary><c>lightq top</c>: what goes on in a broker, live.</summary>
internal sealed class TopCommand
{
    private static readonly TimeSpan UsualInterval = TimeSpan.FromSeconds(2),
        UsualOnce = TimeSpan.FromSeconds(1),
        ShortestInterval = TimeSpan.FromMilliseconds(100),
        LongestInterval = TimeSpan.FromHours(1);

    private static readonly TopView[] Views = TopView.All();

    private readonly Option<string?> _view = new("--view")
    {
        Description = "What is shown first; keys show the others. Default: topics.",
        HelpName = string.Join('|', Views.Select(v => v.Name)),
    };
    private readonly Option<string?> _sort = new("--sort") { Description = SortText(), HelpName = "COLUMN" };
    private readonly Option<bool> _reverse = new("--reverse") { Description = "The least first, or the last name." };
    private readonly Option<int?> _top = ValueOptions.Number("--top", 1);
    private readonly Option<TimeSpan?> _interval = ValueOptions.Duration("--interval", orNone: true);
    private readonly Option<bool> _once = new("--once")
    {
        Description = "Print one table with exact figures, and end.",
    };

    public static Command Create()
    {
        var top = new TopCommand();
        top._view.AcceptOnlyFromAmong([.. Views.Select(v => v.Name)]);
        top._sort.CompletionSources.Add([.. Views.SelectMany(v => v.Columns).Distinct()]);
        top._top.Description = "So many rows at most. Default: as many as the window shows; elsewhere all.";
        top._interval.Description =
            "Between two readings, 100ms to 1h; with --once: how long rates are measured, or none for no rates. "
            + "Default 2s, with --once 1s.";
        var command = new BrokerCommand(
            "top",
            "Watch topics, groups, connections, slow subscribers and the nodes of a cluster in the terminal. Where the "
                + "output is no terminal, tables follow each other until Ctrl-C.",
            "lightq top",
            "lightq top --view groups --sort age",
            "lightq top --once --sort lag --top 10",
            "lightq top --view subscribers --once --output json"
        )
        {
            top._view,
            top._sort,
            top._reverse,
            top._top,
            top._interval,
            top._once,
        };
        command.Validators.Add(top.Check);
        command.Run(top.RunAsync);
        return command;
    }

    private static string SortText() =>
        "The column with the most on top: "
        + string.Join("; ", Views.Select(v => $"of {v.Name} {string.Join(", ", v.Columns)} (default {v.UsualSort})"))
        + ".";

    private void Check(System.CommandLine.Parsing.CommandResult result)
    {
        if (result.GetValue(_interval) is { } interval)
        {
            bool isAllowed =
                interval == TimeSpan.Zero
                    ? result.GetValue(_once)
                    : interval >= ShortestInterval && interval <= LongestInterval;
            if (!isAllowed)
                result.AddError("--interval is 100ms to 1h; none goes with --once.");
        }
        TopView? view = Array.Find(Views, v => v.Name == (result.GetValue(_view) ?? Views[0].Name));
        if (view is not null && result.GetValue(_sort) is { } sort && !view.Columns.Contains(sort))
        {
            result.AddError($"--sort: '{sort}' is no column of {view.Name}; it has {string.Join(", ", view.Columns)}.");
        }
    }

    private async Task RunAsync(BrokerCall call)
    {
        bool isOnce = call.Get(_once);
        var settings = new TopSettings
        {
            View = call.Get(_view) ?? Views[0].Name,
            Sort = call.Get(_sort),
            IsReversed = call.Get(_reverse),
            Most = call.Get(_top),
            Interval = call.Get(_interval) ?? (isOnce ? UsualOnce : UsualInterval),
            Server = call.Options.ToString(),
        };
        if (!isOnce && !call.IsJson && new CommandConsole().Tables.Profile.Capabilities.Ansi)
            await new TopSession(call.Client, settings, new ConsoleTerminal()).RunAsync(call.Cancellation);
        else
            await new TopPrinter(call, settings).RunAsync(isOnce);
    }
}

using System.Globalization;
using System.Text;

namespace LightQ.Cli.Top;

/// <summary>What is on the screen, drawn as a whole each time: a resize needs nothing else.</summary>
internal sealed class TopScreen
{
    /// <summary>Lines that are not rows: the broker, the views, the columns, the keys.</summary>
    private const int OtherLines = 4;

    private const string Help = "q quit  1-6 view  left/right sort  r reverse  arrows/page scroll";

    /// <summary>The broker, as the client has it.</summary>
    public required string Server { get; init; }

    /// <summary>How many rows at most, whatever room there is.</summary>
    public int? Most { get; init; }

    /// <summary>Which rows a window of that height shows.</summary>
    public int RowsIn(int height) => Math.Max(1, Math.Min(height - OtherLines, Most ?? int.MaxValue));

    /// <summary>Draws everything.</summary>
    /// <param name="terminal">How large it is, and whether it has colours.</param>
    /// <param name="view">What is shown.</param>
    /// <param name="views">All views.</param>
    /// <param name="order">What comes first.</param>
    /// <param name="skip">How many rows lie above those that are shown.</param>
    /// <param name="broker">The line about the broker.</param>
    /// <param name="problem">Why there is nothing newer; null for nothing.</param>
    public string Draw(
        ITopTerminal terminal,
        TopView view,
        IReadOnlyList<TopView> views,
        TopOrder order,
        int skip,
        string broker,
        string? problem
    )
    {
        (int width, int height) = (terminal.Width, terminal.Height);
        IReadOnlyList<TopCell[]> rows = view.Take(order, skip, RowsIn(height));
        var lines = new List<string>
        {
            TopTable.Cut($"{broker}  {Server}", width),
            TopTable.Cut(Tabs(view, views), width),
        };
        foreach (string line in TopTable.Fitted(view.Columns, rows, width, order.Column, terminal.HasColours))
            lines.Add(lines.Count == 2 ? Ansi.Bold(line) : line);
        string last = TopTable.Cut(problem ?? Bottom(view, skip, rows.Count), width);
        if (lines.Count > height - 1)
            lines.RemoveRange(Math.Max(0, height - 1), lines.Count - Math.Max(0, height - 1));
        while (lines.Count < height - 1)
            lines.Add("");
        lines.Add(problem is null || !terminal.HasColours ? last : Ansi.Coloured(last, TopMark.Bad));

        var text = new StringBuilder(Ansi.Home);
        text.AppendJoin("\r\n", lines.Select(line => line + Ansi.EndOfLine));
        return text.Append(Ansi.EndOfScreen).ToString();
    }

    private static string Tabs(TopView view, IReadOnlyList<TopView> views)
    {
        IEnumerable<string> tabs = views
            .Select((v, i) => (View: v, Key: i + 1))
            .Where(tab => view.Note is null || tab.View == view)
            .Select(tab =>
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{tab.Key}{(tab.View == view ? $"[{tab.View.Name}]" : $" {tab.View.Name}")}"
                )
            );
        return string.Join("  ", tabs) + (view.Note is { } note ? "  " + note : "");
    }

    private static string Bottom(TopView view, int skip, int shown) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{(shown == 0 ? 0 : skip + 1)}-{skip + shown} of {view.Count}{(view.IsPartial ? "+" : "")}  {Help}"
        );
}

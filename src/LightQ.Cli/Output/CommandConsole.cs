using LightQ.Bench;
using Spectre.Console;

namespace LightQ.Cli.Output;

/// <summary>
/// Where a command writes: results on standard output, progress and errors on standard error. Colours only on a
/// terminal.
/// </summary>
internal sealed class CommandConsole : IBenchConsole
{
    // A pipe has no width; without one, tables would be folded at 80 columns and scripts would trip over it.
    private const int RedirectedWidth = 240;

    private readonly bool _errorIsTerminal = !Console.IsErrorRedirected;
    private bool _hasProgress;

    public CommandConsole()
    {
        Tables = AnsiConsole.Create(
            new AnsiConsoleSettings
            {
                Out = new AnsiConsoleOutput(Console.Out),
                Ansi = Console.IsOutputRedirected ? AnsiSupport.No : AnsiSupport.Detect,
            }
        );
        if (Console.IsOutputRedirected)
            Tables.Profile.Width = RedirectedWidth;
    }

    /// <summary>Tables and styled text on standard output.</summary>
    public IAnsiConsole Tables { get; }

    /// <summary>Writes one result line.</summary>
    public static void Line(string text) => Console.Out.WriteLine(text);

    /// <summary>Says what is going on; on a terminal the next such line takes its place.</summary>
    public void Progress(string text)
    {
        if (_errorIsTerminal)
            Console.Error.Write($"\r\u001b[K{text}");
        else
            Console.Error.WriteLine(text);
        _hasProgress = _errorIsTerminal;
    }

    /// <summary>Takes the last progress line away.</summary>
    public void EndProgress()
    {
        if (_hasProgress)
            Console.Error.Write("\r\u001b[K");
        _hasProgress = false;
    }

    /// <summary>Writes a line to standard error that stays.</summary>
    public void Note(string text)
    {
        EndProgress();
        Console.Error.WriteLine(text);
    }

    /// <summary>A table of names and values.</summary>
    public static Table Rows(IEnumerable<(string Name, string Value)> rows)
    {
        Table table = Table("", "").HideHeaders();
        foreach ((string name, string value) in rows)
            table.AddRow(Markup.Escape(name), Markup.Escape(value));
        return table;
    }

    /// <summary>An empty table in the tool's style.</summary>
    public static Table Table(params ReadOnlySpan<string> columns)
    {
        Table table = new Table().Border(TableBorder.Simple);
        foreach (string column in columns)
            table.AddColumn(new TableColumn(Markup.Escape(column)));
        return table;
    }
}

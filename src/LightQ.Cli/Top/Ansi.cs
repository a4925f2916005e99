namespace LightQ.Cli.Top;

/// <summary>What a terminal does beside showing characters.</summary>
internal static class Ansi
{
    /// <summary>
    /// A second screen without a cursor: what was on the first one comes back with <see cref="Leave"/>.
    /// </summary>
    public const string Enter = "\u001b[?1049h\u001b[?25l";

    /// <summary>Back to the first screen.</summary>
    public const string Leave = "\u001b[?25h\u001b[?1049l";

    /// <summary>To the upper left corner.</summary>
    public const string Home = "\u001b[H";

    /// <summary>Clears the rest of a line.</summary>
    public const string EndOfLine = "\u001b[K";

    /// <summary>Clears everything behind the cursor.</summary>
    public const string EndOfScreen = "\u001b[J";

    private const string Reset = "\u001b[0m";

    /// <summary>Bold, which is no colour.</summary>
    public static string Bold(string text) => $"\u001b[1m{text}{Reset}";

    /// <summary>A text in the colour of a mark.</summary>
    public static string Coloured(string text, TopMark mark) =>
        mark switch
        {
            TopMark.Warning => $"\u001b[33m{text}{Reset}",
            TopMark.Bad => $"\u001b[31m{text}{Reset}",
            _ => text,
        };
}

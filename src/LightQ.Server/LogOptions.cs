using Microsoft.Extensions.Logging;

namespace LightQ.Server;

/// <summary>
/// What a server process logs to standard error, and how. A server inside another program logs to the logger factory of
/// that program.
/// </summary>
public sealed record LogOptions
{
    /// <summary>The lowest level that is logged. Default <see cref="LogLevel.Warning"/>.</summary>
    public LogLevel Level { get; init; } = LogLevel.Warning;

    /// <summary>
    /// Other levels for parts of the log: <c>CATEGORY=LEVEL,CATEGORY=LEVEL</c>. A category includes those under it; the
    /// longest one that matches applies. Default: none.
    /// </summary>
    public string Levels
    {
        get;
        init
        {
            Parse(value);
            field = value;
        }
    } = "";

    /// <summary>How lines are written. Default <see cref="LogFormat.Text"/>.</summary>
    public LogFormat Format { get; init; }

    /// <summary>The level of each category that has its own, the longest names first.</summary>
    public IReadOnlyList<(string Category, LogLevel Level)> ByCategory() =>
        [.. Parse(Levels).OrderByDescending(l => l.Category.Length)];

    private static List<(string Category, LogLevel Level)> Parse(string levels)
    {
        var parsed = new List<(string, LogLevel)>();
        foreach (
            string part in levels.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
        )
        {
            int equals = part.IndexOf('=', StringComparison.Ordinal);
            if (
                equals < 1
                || !Enum.GetNames<LogLevel>().Contains(part[(equals + 1)..], StringComparer.OrdinalIgnoreCase)
            )
            {
                throw new ArgumentOutOfRangeException(
                    nameof(levels),
                    levels,
                    "CATEGORY=LEVEL,CATEGORY=LEVEL with the levels trace, debug, information, warning, error, "
                        + "critical and none"
                );
            }

            parsed.Add((part[..equals], Enum.Parse<LogLevel>(part[(equals + 1)..], ignoreCase: true)));
        }
        return parsed;
    }
}

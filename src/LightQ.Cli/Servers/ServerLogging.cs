using LightQ.Server;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Console;

namespace LightQ.Cli.Servers;

/// <summary>
/// The log of a server process, on standard error: standard output carries the ports, and nothing else. Its levels can
/// be changed while it is in use.
/// </summary>
internal sealed class ServerLogging
{
    private const string Time = "yyyy-MM-ddTHH:mm:ss.fffZ ";

    private volatile Levels _levels;

    public ServerLogging(LogOptions options)
    {
        _levels = Levels.Of(options);
        Loggers = LoggerFactory.Create(logging =>
        {
            logging.SetMinimumLevel(LogLevel.Trace);
            logging.AddFilter((category, level) => _levels.Allow(category ?? "", level));
            if (options.Format == LogFormat.Json)
            {
                logging.AddJsonConsole(line => (line.TimestampFormat, line.UseUtcTimestamp) = (Time.TrimEnd(), true));
            }
            else if (options.Format == LogFormat.Systemd)
            {
                logging.AddSystemdConsole(line => line.UseUtcTimestamp = true); // The journal stamps the lines itself.
            }
            else
            {
                logging.AddSimpleConsole(line =>
                    (line.SingleLine, line.TimestampFormat, line.UseUtcTimestamp) = (true, Time, true)
                );
            }

            logging.Services.Configure<ConsoleLoggerOptions>(console =>
                console.LogToStandardErrorThreshold = LogLevel.Trace
            );
        });
    }

    /// <summary>The loggers.</summary>
    public ILoggerFactory Loggers { get; }

    /// <summary>Takes other levels; they count at once.</summary>
    public void Apply(LogOptions options) => _levels = Levels.Of(options);

    private sealed record Levels(LogLevel Usual, IReadOnlyList<(string Category, LogLevel Level)> ByCategory)
    {
        public static Levels Of(LogOptions options) => new(options.Level, options.ByCategory());

        public bool Allow(string category, LogLevel level)
        {
            foreach ((string prefix, LogLevel least) in ByCategory)
            {
                if (
                    category.StartsWith(prefix, StringComparison.Ordinal)
                    && (category.Length == prefix.Length || category[prefix.Length] == '.')
                )
                {
                    return level >= least && least != LogLevel.None;
                }
            }
            return level >= Usual && Usual != LogLevel.None;
        }
    }
}

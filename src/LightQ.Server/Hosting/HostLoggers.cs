using Microsoft.Extensions.Logging;

namespace LightQ.Server.Hosting;

/// <summary>
/// The broker's loggers for its HTTP host: what gRPC and health checks say of single calls is for debugging, or clients
/// could fill the log with it.
/// </summary>
internal sealed class HostLoggers(ILoggerFactory loggers) : ILoggerFactory
{
    private static readonly string[] OfCalls = ["Grpc.", "Microsoft.Extensions.Diagnostics.HealthChecks."];

    public ILogger CreateLogger(string categoryName)
    {
        ILogger logger = loggers.CreateLogger(categoryName);
        bool isOfCalls = Array.Exists(OfCalls, prefix => categoryName.StartsWith(prefix, StringComparison.Ordinal));
        return isOfCalls ? new Debugging(logger) : logger;
    }

    public void AddProvider(ILoggerProvider provider) => loggers.AddProvider(provider);

    /// <summary>They are the broker's.</summary>
    public void Dispose() { }

    private sealed class Debugging(ILogger logger) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => logger.BeginScope(state);

        public bool IsEnabled(LogLevel logLevel) => logger.IsEnabled(Lower(logLevel));

        public void Log<TState>(
            LogLevel logLevel,
            EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter
        )
        {
            LogLevel lower = Lower(logLevel);
            if (logger.IsEnabled(lower))
                logger.Log(lower, eventId, state, exception, formatter);
        }

        private static LogLevel Lower(LogLevel level) => level < LogLevel.Debug ? level : LogLevel.Debug;
    }
}

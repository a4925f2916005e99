using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace LightQ.ClusterTests.Engine;

/// <summary>Keeps what is logged.</summary>
internal sealed class LinesLog : ILoggerFactory, ILogger
{
    private readonly ConcurrentQueue<string> _lines = new();

    public IReadOnlyCollection<string> Lines => _lines;

    public void AddProvider(ILoggerProvider provider)
    {
        // There is one, and it is this.
    }

    public ILogger CreateLogger(string categoryName) => this;

    public bool IsEnabled(LogLevel logLevel) => true;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public void Log<TState>(
        LogLevel logLevel,
        EventId eventId,
        TState state,
        Exception? exception,
        Func<TState, Exception?, string> formatter
    ) => _lines.Enqueue(formatter(state, exception));

    public void Dispose()
    {
        // Nothing is held.
    }
}

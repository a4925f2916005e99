using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace LightQ.Tests;

/// <summary>Keeps what a server logs at Warning and above.</summary>
internal sealed class RecordedLog : ILoggerProvider, ILogger
{
    public ConcurrentQueue<(string Message, Exception? Error)> Lines { get; } = new();

    public ILogger CreateLogger(string categoryName) => this;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Warning;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public void Log<TState>(
        LogLevel logLevel,
        EventId eventId,
        TState state,
        Exception? exception,
        Func<TState, Exception?, string> formatter
    )
    {
        if (IsEnabled(logLevel))
            Lines.Enqueue((formatter(state, exception), exception));
    }

    public void Dispose() { }
}

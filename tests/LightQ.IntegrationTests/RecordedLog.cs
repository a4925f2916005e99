using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace LightQ.IntegrationTests;

/// <summary>Keeps what a server logs at Information and above.</summary>
internal sealed class RecordedLog : ILoggerFactory, ILogger
{
    /// <summary>The lines, oldest first.</summary>
    public ConcurrentQueue<(LogLevel Level, string Message, Exception? Error)> Lines { get; } = new();

    /// <summary>The lines at Error and above.</summary>
    public IEnumerable<string> Errors =>
        Lines
            .Where(l => l.Level >= LogLevel.Error)
            .Select(l => l.Error is null ? l.Message : $"{l.Message}: {l.Error}");

    /// <summary>Waits for lines with a text, and gives them.</summary>
    public async Task<string[]> HasAsync(string text, int count)
    {
        await Eventually.TrueAsync(
            () => With(text).Length >= count,
            TimeSpan.FromSeconds(60),
            () => $"'{text}' is not logged, but\n{string.Join('\n', Lines.Select(l => l.Message))}"
        );
        return With(text);
    }

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

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
            Lines.Enqueue((logLevel, formatter(state, exception), exception));
    }

    public void Dispose() { }

    private string[] With(string text) =>
        [.. Lines.Select(l => l.Message).Where(m => m.Contains(text, StringComparison.Ordinal))];
}

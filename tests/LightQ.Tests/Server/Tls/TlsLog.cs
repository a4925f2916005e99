using Microsoft.Extensions.Logging;

namespace LightQ.Tests.Server.Tls;

/// <summary>Keeps every line with its level.</summary>
internal sealed class TlsLog : ILogger
{
    public List<(LogLevel Level, string Message)> Lines { get; } = [];

    public string[] Of(LogLevel level) => [.. Lines.Where(l => l.Level == level).Select(l => l.Message)];

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(
        LogLevel logLevel,
        EventId eventId,
        TState state,
        Exception? exception,
        Func<TState, Exception?, string> formatter
    ) => Lines.Add((logLevel, formatter(state, exception)));
}

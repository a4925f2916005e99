using Microsoft.Extensions.Logging;

namespace LightQ.Cli.Hosting;

/// <summary>What a server process logs besides what the server does.</summary>
internal static partial class ServerProcessLog
{
    [LoggerMessage(3001, LogLevel.Warning, "The configuration was read again: {Key} {From} to {To}, {Outcome}")]
    public static partial void Reloaded(ILogger logger, string key, string from, string to, string outcome);

    [LoggerMessage(3002, LogLevel.Error, "The configuration was read again and is refused, nothing has changed: {Reason}")]
    public static partial void ReloadRefused(ILogger logger, string reason);
}

using LightQ.Server.Security;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Audit;

/// <summary>The lines of the server's log about what is audited and about the audit log itself.</summary>
internal static partial class AuditMessages
{
    [LoggerMessage(2015, LogLevel.Debug, "{Action}: {Actor} from {Peer} by {Mechanism}")]
    public static partial void LoggedIn(
        ILogger logger,
        SecurityAction action,
        string actor,
        string peer,
        string mechanism
    );

    [LoggerMessage(2016, LogLevel.Information, "{Action}: {Subject} ({Detail}) by {Actor} from {Peer}")]
    public static partial void Changed(
        ILogger logger,
        SecurityAction action,
        string subject,
        string detail,
        string actor,
        string peer
    );

    [LoggerMessage(
        2060,
        LogLevel.Error,
        "The audit log in {Directory} is not as it was written: {Problem}. It goes on behind that; 'lightq audit "
            + "verify {Directory}' says more"
    )]
    public static partial void Broken(ILogger logger, string directory, string problem);

    [LoggerMessage(
        2061,
        LogLevel.Error,
        "The audit log cannot be written: {Reason} {Waiting} events wait in memory, and whoever causes them is "
            + "answered without waiting for the disk"
    )]
    public static partial void Failed(ILogger logger, string reason, int waiting);

    [LoggerMessage(2062, LogLevel.Warning, "The audit log is written again")]
    public static partial void Recovered(ILogger logger);

    [LoggerMessage(
        2063,
        LogLevel.Error,
        "{Action} of {Subject} has not reached the audit log in {Patience}; the caller is answered without it"
    )]
    public static partial void Late(ILogger logger, SecurityAction action, string subject, TimeSpan patience);
}

using LightQ.Server.Limits;
using LightQ.Server.Security;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Audit;

/// <summary>Writes what happens to the server's log, and to the audit log where there is one.</summary>
internal sealed class SecurityLog(ServerLimits limits, ILogger logger, AuditLog? audit) : ISecurityEvents
{
    /// <inheritdoc/>
    public void Raise(SecurityEvent happened)
    {
        if (happened.Action != SecurityAction.LoginRefused)
            AuditMessages.LoggedIn(logger, happened.Action, happened.Actor, happened.Origin.Address, happened.Detail);
        else if (limits.MayLogRefusal("login", out string unsaid))
            ServerLog.LoginRefused(logger, happened.Origin.Address, happened.Detail, unsaid);
        audit?.Write(happened);
    }

    /// <inheritdoc/>
    public Task RaiseAsync(SecurityEvent happened)
    {
        switch (happened.Action)
        {
            case SecurityAction.BrokerStarted or SecurityAction.BrokerStopping or SecurityAction.BrokerStopped:
                break; // Told in more detail by who does it.
            default:
                AuditMessages.Changed(
                    logger,
                    happened.Action,
                    happened.Subject,
                    happened.Detail,
                    happened.Actor,
                    happened.Origin.Address
                );
                break;
        }
        return audit?.WriteAsync(happened) ?? Task.CompletedTask;
    }
}

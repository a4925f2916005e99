using Microsoft.Extensions.Logging;

namespace LightQ.Server.Security;

/// <summary>Writes what happens to logins and rights to the server's log.</summary>
internal sealed class SecurityLog(ILogger logger) : ISecurityEvents
{
    /// <inheritdoc/>
    public void Raise(SecurityEvent happened)
    {
        switch (happened.Action)
        {
            case SecurityAction.LoginRefused:
                ServerLog.LoginRefused(logger, happened.Peer, happened.Detail);
                break;
            case SecurityAction.LoginAccepted or SecurityAction.LoggedOut:
                ServerLog.LoggedIn(logger, happened.Action, happened.Actor, happened.Peer, happened.Detail);
                break;
            default:
                ServerLog.RightsChanged(logger, happened.Action, happened.Subject, happened.Detail, happened.Actor, happened.Peer);
                break;
        }
    }
}

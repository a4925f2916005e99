namespace LightQ.Server.Security;

/// <summary>
/// Gets every login, and every change of users, rights, tokens, topics, groups and the broker's own state: the
/// events of the audit log.
/// </summary>
/// <remarks>Thread-safe. It throws nothing.</remarks>
internal interface ISecurityEvents
{
    /// <summary>
    /// Hears of a login. It is called on the thread that did it, which may serve a socket: it returns at once.
    /// </summary>
    void Raise(SecurityEvent happened);

    /// <summary>
    /// Takes a change; completes when the event survives a crash, before the caller learns that the change is done.
    /// </summary>
    Task RaiseAsync(SecurityEvent happened);
}

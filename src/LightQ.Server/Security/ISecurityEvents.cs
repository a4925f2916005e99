namespace LightQ.Server.Security;

/// <summary>
/// Hears of every login, and of every change of users, rights, tokens, topics, groups and the broker's own state: what
/// an audit keeps.
/// </summary>
/// <remarks>Thread-safe. It throws nothing.</remarks>
internal interface ISecurityEvents
{
    /// <summary>
    /// Hears of a login. It is called on the thread that did it, which may serve a socket: it returns at once.
    /// </summary>
    void Raise(SecurityEvent happened);

    /// <summary>
    /// Hears of a change; completes when it is where it will be found after a crash, before the caller is told that the
    /// change is done.
    /// </summary>
    Task RaiseAsync(SecurityEvent happened);
}

namespace LightQ.Server.Security;

/// <summary>Hears of every login, and of every change of users, rights and tokens: what an audit keeps.</summary>
/// <remarks>Thread-safe. It is called on the thread that did it, which may serve a socket: it returns at once and throws nothing.</remarks>
internal interface ISecurityEvents
{
    /// <summary>Hears of one.</summary>
    void Raise(SecurityEvent happened);
}

using LightQ.Broker;

namespace LightQ.Server.Security;

/// <summary>Authentication, access control and their events: the same three for every port.</summary>
internal sealed class ServerSecurity : IDisposable
{
    public ServerSecurity(
        LightQBroker broker,
        string? adminPassword,
        AuthenticatorOptions options,
        LimitRefusals refusals,
        ISecurityEvents events,
        TimeProvider time
    )
    {
        Events = events;
        SignedLogins? signed = broker.Replicas.Members is null
            ? null
            : new SignedLogins(broker.GetNodeSecret(), broker);
        Authenticator = new Authenticator(broker, adminPassword, options, refusals, events, time, signed);
        Access = new AccessControl(broker, Authenticator, time);
    }

    /// <summary>Identifies the caller.</summary>
    public Authenticator Authenticator { get; }

    /// <summary>Decides what they may do.</summary>
    public AccessControl Access { get; }

    /// <summary>Hears of it.</summary>
    public ISecurityEvents Events { get; }

    /// <inheritdoc/>
    public void Dispose() => Access.Dispose();
}

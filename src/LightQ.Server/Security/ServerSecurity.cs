using LightQ.Broker;

namespace LightQ.Server.Security;

/// <summary>Authentication, access control and their events: the same three for every port.</summary>
internal sealed class ServerSecurity : IDisposable
{
    private readonly CatalogAge? _age;

    /// <param name="broker">Knows users and rights.</param>
    /// <param name="adminPassword">The password of admin; null where the cluster's catalog has it.</param>
    /// <param name="options">How clients log in.</param>
    /// <param name="refusals">Counts what limits refuse.</param>
    /// <param name="events">Gets what happens.</param>
    /// <param name="time">The clock.</param>
    /// <param name="trustsCatalogFor">
    /// How long a node that cannot read its cluster's catalog believes what it knows of it; zero for ever.
    /// </param>
    public ServerSecurity(
        LightQBroker broker,
        string? adminPassword,
        AuthenticatorOptions options,
        LimitRefusals refusals,
        ISecurityEvents events,
        TimeProvider time,
        TimeSpan trustsCatalogFor = default
    )
    {
        Events = events;
        SignedLogins? signed = broker.Replicas.Members is null
            ? null
            : new SignedLogins(broker.GetNodeSecret(), broker);
        Authenticator = new Authenticator(broker, adminPassword, options, refusals, events, time, signed);
        if (broker.HasReplication && trustsCatalogFor > TimeSpan.Zero)
            _age = new CatalogAge(broker, trustsCatalogFor, time);
        Access = new AccessControl(broker, Authenticator, _age, time);
    }

    /// <summary>Identifies the caller.</summary>
    public Authenticator Authenticator { get; }

    /// <summary>Decides what they may do.</summary>
    public AccessControl Access { get; }

    /// <summary>Hears of it.</summary>
    public ISecurityEvents Events { get; }

    /// <inheritdoc/>
    public void Dispose()
    {
        _age?.Dispose();
        Access.Dispose();
    }
}

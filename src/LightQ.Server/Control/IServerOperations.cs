using LightQ.Broker;
using LightQ.Server.Configuration;
using LightQ.Server.Hosting;
using LightQ.Server.Security;

namespace LightQ.Server.Control;

/// <summary>What is done to the server as a whole.</summary>
internal interface IServerOperations
{
    /// <summary>The options in force.</summary>
    LightQServerOptions Options { get; }

    /// <summary>Lets clients finish; a drain that is under way goes on as it is.</summary>
    Drain BeginDrain(TimeSpan timeout);

    /// <summary>Reads the configuration again and takes over what can be.</summary>
    /// <exception cref="BrokerException">
    /// The server is a part of a program that gave it none: <see cref="ErrorCode.NotSupported"/>.
    /// </exception>
    Task<ReloadReport> ReloadAsync(string actor, Origin origin);

    /// <summary>Allows all users to log in again after a repair of the catalog.</summary>
    /// <returns>Whether there was anything to confirm.</returns>
    /// <exception cref="IOException">The disk refuses: it stays as it is.</exception>
    Task<bool> ConfirmCatalogAsync(string actor, Origin origin);

    /// <summary>Where clients find the data plane and the control plane, as <c>host:port</c>.</summary>
    (string Data, string Control) GetAddresses();

    /// <summary>Has the server stop by itself; returns at once.</summary>
    void BeginStop();
}

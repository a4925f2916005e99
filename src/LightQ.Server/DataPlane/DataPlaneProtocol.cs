using LightQ.Broker;
using LightQ.Server.Connections;
using LightQ.Server.Limits;
using LightQ.Server.Security;

namespace LightQ.Server.DataPlane;

/// <summary>The data plane of a broker: frames, as proto/data-plane.md has them.</summary>
internal sealed class DataPlaneProtocol(
    LightQBroker broker,
    ServerSecurity security,
    ServerLimits limits,
    TimeProvider time
) : IConnectionProtocolFactory
{
    private readonly FrameFormat _format = new();

    /// <summary>The features that are granted to clients that ask for them; none by default.</summary>
    public ulong Features { get; init; }

    /// <inheritdoc/>
    public IConnectionProtocol Create(in ConnectionParts connection) =>
        new Session(connection, _format, broker, security, limits, time) { Offered = Features };
}

using LightQ.Protocol;

namespace LightQ.Client;

/// <summary>Where one broker of a cluster is. Immutable; a value outside its range throws when it is set.</summary>
public sealed record BrokerEndpoint
{
    /// <summary>Name or address of the broker's machine.</summary>
    public required string Host
    {
        get;
        init
        {
            ArgumentException.ThrowIfNullOrWhiteSpace(value);
            field = value;
        }
    }

    /// <summary>Port of the data plane, 1 to 65,535. Default: 5700.</summary>
    public int DataPort
    {
        get;
        init => field = Port(value);
    } = ProtocolLimits.DefaultDataPort;

    /// <summary>Port of the control plane (gRPC), 1 to 65,535. Default: 5701.</summary>
    public int ControlPort
    {
        get;
        init => field = Port(value);
    } = ProtocolLimits.DefaultControlPort;

    /// <summary>Host and data port, as in a connection string.</summary>
    public override string ToString() => HostPort.Format(Host, DataPort);

    /// <summary>Refuses what is no port.</summary>
    internal static int Port(int value) =>
        value is > 0 and <= ushort.MaxValue
            ? value
            : throw new ArgumentOutOfRangeException(nameof(value), value, "A port is between 1 and 65,535.");
}

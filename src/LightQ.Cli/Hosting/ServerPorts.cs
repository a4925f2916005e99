using LightQ.Server;

namespace LightQ.Cli.Hosting;

/// <summary>Where a broker listens.</summary>
internal sealed record ServerPorts
{
    public required string Address { get; init; }

    public int DataPort { get; init; }

    public int ControlPort { get; init; }

    public int WebPort { get; init; }

    /// <summary>What a client on this machine connects with.</summary>
    public required string ConnectionString { get; init; }

    public required string DataDirectory { get; init; }

    public static ServerPorts Of(LightQServer server, string address) => new()
    {
        Address = address,
        DataPort = server.DataPort,
        ControlPort = server.ControlPort,
        WebPort = server.WebPort,
        ConnectionString = server.ConnectionString,
        DataDirectory = server.DataDirectory,
    };
}

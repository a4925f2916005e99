using LightQ.Server;

namespace LightQ.Cli.Servers;

/// <summary>Where a broker listens.</summary>
internal sealed record ServerPorts
{
    public required string Address { get; init; }

    public int DataPort { get; init; }

    public int ControlPort { get; init; }

    public int WebPort { get; init; }

    /// <summary>What a client on this machine connects with.</summary>
    public required string ConnectionString { get; init; }

    /// <summary>What clients on other machines connect with, where a network leads here; null on loopback.</summary>
    public IReadOnlyList<string>? RemoteConnectionStrings { get; init; }

    public required string DataDirectory { get; init; }

    public static ServerPorts Of(LightQServer server, string address) =>
        new()
        {
            Address = address,
            DataPort = server.DataPort,
            ControlPort = server.ControlPort,
            WebPort = server.WebPort,
            ConnectionString = server.ConnectionString,
            RemoteConnectionStrings = server.RemoteConnectionStrings.ToArray() is { Length: > 0 } remote
                ? remote
                : null,
            DataDirectory = server.DataDirectory,
        };
}

using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.Client.Encryption;

namespace LightQ.Cli.Bench.Fanout;

/// <summary>The background connections of one client process.</summary>
internal sealed class IdleConnections : IDisposable
{
    private const int OpenedAtOnce = 32;

    private readonly IdleConnection[] _connections;

    private IdleConnections(IdleConnection[] connections) => _connections = connections;

    /// <summary>Opens them all.</summary>
    /// <param name="spec">Where to, where from, how many.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public static async Task<IdleConnections> OpenAsync(FanoutSpec spec, CancellationToken cancellationToken)
    {
        LightQClientOptions options = LightQClientOptions.Parse(spec.Endpoint);
        var connections = new IdleConnections([.. Enumerable.Range(0, spec.Idle).Select(_ => new IdleConnection())]);
        try
        {
            IPAddress[] addresses = SecretGuard.IsNeeded(options) ? await SecretGuard.ResolveAsync(options, cancellationToken) : await Dns.GetHostAddressesAsync(options.Host, cancellationToken);
            var broker = new IPEndPoint(addresses.First(a => a.AddressFamily == AddressFamily.InterNetwork), options.DataPort);
            IPAddress? source = spec.SourceAddress is { } address && IPAddress.IsLoopback(broker.Address) ? IPAddress.Parse(address) : null;
            var parallel = new ParallelOptions { MaxDegreeOfParallelism = OpenedAtOnce, CancellationToken = cancellationToken };
            await Parallel.ForEachAsync(
                connections._connections, parallel, async (connection, token) => await connection.OpenAsync(broker, source, options.ToHello(), token));
            return connections;
        }
        catch
        {
            connections.Dispose();
            throw;
        }
    }

    /// <summary>How many are still open, and why the first one that is not has ended.</summary>
    public (int Open, string? FirstEnd) Count()
    {
        string[] ends = [.. _connections.Select(c => c.End).OfType<string>()];
        return (_connections.Length - ends.Length, ends.FirstOrDefault());
    }

    public void Dispose()
    {
        foreach (IdleConnection connection in _connections)
            connection.Dispose();
    }
}

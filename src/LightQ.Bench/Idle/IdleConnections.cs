using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Bench.Idle;

/// <summary>The background connections of one client process.</summary>
internal sealed class IdleConnections : IDisposable
{
    private const int OpenedAtOnce = 32;

    private readonly IdleConnection[] _connections;

    private IdleConnections(IdleConnection[] connections) => _connections = connections;

    /// <summary>Opens them all.</summary>
    /// <param name="spec">Where to, where from, how many.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public static async Task<IdleConnections> OpenAsync(IdleSpec spec, CancellationToken cancellationToken)
    {
        LightQClientOptions options = LightQClientOptions.Parse(spec.Endpoint);
        var connections = new IdleConnections([
            .. Enumerable.Range(0, spec.Connections).Select(_ => new IdleConnection()),
        ]);
        try
        {
            IPAddress[] addresses = await Dns.GetHostAddressesAsync(options.Host, cancellationToken);
            var broker = new IPEndPoint(
                addresses.First(a => a.AddressFamily == AddressFamily.InterNetwork),
                options.DataPort
            );
            HelloFrame hello = HelloOf(options, broker);
            IPAddress? source =
                spec.SourceAddress is { } address && IPAddress.IsLoopback(broker.Address)
                    ? IPAddress.Parse(address)
                    : null;
            var parallel = new ParallelOptions
            {
                MaxDegreeOfParallelism = OpenedAtOnce,
                CancellationToken = cancellationToken,
            };
            await Parallel.ForEachAsync(
                connections._connections,
                parallel,
                async (connection, token) => await connection.OpenAsync(broker, source, hello, token)
            );
            return connections;
        }
        catch
        {
            connections.Dispose();
            throw;
        }
    }

    /// <summary>
    /// What they say first. Like the client's, a login leaves this machine only if the options say that it may: these
    /// connections have no TLS.
    /// </summary>
    private static HelloFrame HelloOf(LightQClientOptions options, IPEndPoint broker)
    {
        (string mechanism, string secret) = options switch
        {
            { Token: { } token } => (HelloFrame.Token, token),
            { User: { } user } => (HelloFrame.Plain, $"{user}\0{options.Password}"),
            _ => (HelloFrame.Anonymous, ""),
        };
        return secret.Length == 0 || IPAddress.IsLoopback(broker.Address) || options.Insecure
            ? new HelloFrame(ProtocolLimits.Version, ProtocolLimits.Version, 0, options.ClientName, mechanism, secret)
            : throw new LightQException(
                ErrorCode.TlsRequired,
                $"Idle connections have no TLS, and {broker.Address} is not of this machine: connect with "
                    + $"insecure=true if the network may read the login."
            );
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

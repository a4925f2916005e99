namespace LightQ.Replication.Nats;

/// <summary>Whether servers sync before they acknowledge.</summary>
public static class SyncRule
{
    /// <summary>
    /// Why what is acknowledged may be lost in a power cut of all servers; null when each of them is known to sync.
    /// </summary>
    /// <param name="servers">What they say of themselves.</param>
    public static string? FindUnsynced(IReadOnlyList<MonitoredServer> servers)
    {
        ArgumentNullException.ThrowIfNull(servers);
        if (servers.Count == 0)
            return "Cluster:Monitoring names none of them";
        foreach (MonitoredServer server in servers)
        {
            if (server.Failure is { } failure)
                return $"{server.Address.Authority} does not say whether it does: {failure.TrimEnd('.')}";
            if (server is { HasJetStream: true, SyncsAlways: false })
                return Describe(server);
        }
        int storing = servers.Where(server => server.HasJetStream).DistinctBy(server => server.Id).Count();
        int size = servers.Max(server => server.ClusterSize);
        return storing >= size ? null : $"Cluster:Monitoring names {storing} of the {size} servers that store streams";
    }

    private static string Describe(MonitoredServer server) =>
        EngineVersion.Compare(server.Version, EngineVersion.FirstWithSync) < 0
            ? $"nats-server {server.Version} of {server.Title} cannot: it syncs every 2 minutes, and sync_interval "
                + $"came with {EngineVersion.FirstWithSync}"
            : $"{server.Title} syncs every {server.SyncInterval ?? TimeSpan.FromMinutes(2)}";
}

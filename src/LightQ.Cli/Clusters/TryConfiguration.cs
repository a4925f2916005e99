namespace LightQ.Cli.Clusters;

/// <summary>The configuration file of a broker of a cluster to try.</summary>
internal sealed record TryConfiguration(TryConfiguration.ClusterSection Cluster)
{
    internal sealed record ClusterSection(
        string Engine,
        string Name,
        string Node,
        string AdvertiseData,
        string AdvertiseControl,
        bool RequireSync,
        string? Monitoring
    );
}

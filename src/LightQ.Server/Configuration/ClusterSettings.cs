namespace LightQ.Server.Configuration;

/// <summary>The settings of the section Cluster.</summary>
internal static class ClusterSettings
{
    private static readonly SettingSection<ClusterOptions> Cluster = new(
        "Cluster",
        o => o.Cluster,
        (o, cluster) => o with { Cluster = cluster }
    );

    /// <summary>The settings, in the order in which they are shown.</summary>
    public static IReadOnlyList<ServerSetting> All { get; } =
    [
        Cluster.File(
            nameof(ClusterOptions.Engine),
            "The servers of the replicated log, such as nats://n1:4222,nats://n2:4222; none: no topic has replicas.",
            o => o.Engine,
            (o, t) => o with { Engine = t }
        ),
        Cluster.Text(
            nameof(ClusterOptions.Name),
            "The cluster's name, part of the names of its streams.",
            o => o.Name,
            (o, t) => o with { Name = t }
        ),
        Cluster.Text(
            nameof(ClusterOptions.Node),
            "This broker's name in the cluster; by default the machine's.",
            o => o.Node,
            (o, t) => o with { Node = t }
        ),
        Cluster.File(
            nameof(ClusterOptions.AdvertiseData),
            "HOST:PORT at which clients find this broker's data plane; by default where it listens.",
            o => o.AdvertiseData,
            (o, t) => o with { AdvertiseData = t }
        ),
        Cluster.File(
            nameof(ClusterOptions.AdvertiseControl),
            "Likewise of its control plane.",
            o => o.AdvertiseControl,
            (o, t) => o with { AdvertiseControl = t }
        ),
        Cluster.File(
            nameof(ClusterOptions.CredentialsFile),
            "A file with a NATS user's JWT and seed.",
            o => o.CredentialsFile,
            (o, t) => o with { CredentialsFile = t }
        ),
        Cluster.File(
            nameof(ClusterOptions.SeedFile),
            "A file with the seed of a NATS user that is an NKey.",
            o => o.SeedFile,
            (o, t) => o with { SeedFile = t }
        ),
        Cluster.File(
            nameof(ClusterOptions.User),
            "The NATS user to log in as, with PasswordFile.",
            o => o.User,
            (o, t) => o with { User = t }
        ),
        Cluster.File(
            nameof(ClusterOptions.PasswordFile),
            "A file that holds the NATS user's password.",
            o => o.PasswordFile,
            (o, t) => o with { PasswordFile = t }
        ),
        Cluster.File(
            nameof(ClusterOptions.CaFile),
            "The authorities (PEM) of the NATS servers' certificates, where Engine says tls://.",
            o => o.CaFile,
            (o, t) => o with { CaFile = t }
        ),
        Cluster.File(
            nameof(ClusterOptions.CertificateFile),
            "This broker's certificate (PEM) for NATS servers that ask for one.",
            o => o.CertificateFile,
            (o, t) => o with { CertificateFile = t }
        ),
        Cluster.File(
            nameof(ClusterOptions.KeyFile),
            "The private key (PEM) of that certificate.",
            o => o.KeyFile,
            (o, t) => o with { KeyFile = t }
        ),
        Cluster.File(
            nameof(ClusterOptions.NodeCaFile),
            "The authorities (PEM) of the other nodes' certificates, where the ports have TLS.",
            o => o.NodeCaFile,
            (o, t) => o with { NodeCaFile = t }
        ),
        Cluster.Time(
            nameof(ClusterOptions.TrustCatalogFor),
            "How long logins and rights are believed while the cluster's catalog cannot be read; 0 for ever.",
            o => o.TrustCatalogFor,
            (o, v) => o with { TrustCatalogFor = v }
        ),
        Cluster.Switch(
            nameof(ClusterOptions.RequireSync),
            "Whether topics with replicas are made only while all servers sync before they acknowledge.",
            o => o.RequireSync,
            (o, v) => o with { RequireSync = v }
        ),
        Cluster.File(
            nameof(ClusterOptions.Monitoring),
            "The monitoring ports of all NATS servers, such as http://n1:8222,http://n2:8222, for RequireSync.",
            o => o.Monitoring,
            (o, t) => o with { Monitoring = t }
        ),
    ];
}

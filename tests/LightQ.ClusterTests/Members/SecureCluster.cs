using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Grpc.Net.Client;
using LightQ.Broker;
using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Server;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>
/// Three servers of one cluster whose ports have TLS; each leads one partition of the topic "orders".
/// </summary>
internal sealed class SecureCluster : IAsyncDisposable
{
    public const string Topic = "orders";

    /// <summary>The nodes, in the order of the partitions that they lead.</summary>
    public static readonly IReadOnlyList<string> Names = ["a", "b", "c"];

    private readonly TemporaryDirectory _directory = new();
    private readonly MemoryEngine _engine = new();
    private readonly List<LightQServer> _servers = [];
    private readonly List<GrpcChannel> _channels = [];

    /// <summary>The authorities that each node trusts as those of the others, in PEM.</summary>
    public required string NodeAuthorities { get; init; }

    /// <summary>The authorities of clients' certificates, in PEM; null where clients show none.</summary>
    public string? ClientAuthorities { get; init; }

    /// <summary>What the test's own client shows.</summary>
    public X509Certificate2? ClientCertificate { get; init; }

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    /// <summary>Where the nodes' certificates and keys are.</summary>
    public string Folder => _directory.Path;

    /// <summary>Who has issued the certificate that a node shows.</summary>
    public async Task<string> IssuerOfAsync(string node)
    {
        using var socket = new TcpClient();
        await socket.ConnectAsync("127.0.0.1", _servers[Names.ToList().IndexOf(node)].ControlPort, Cancelled);
        string issuer = "";
        await using var stream = new SslStream(
            socket.GetStream(),
            false,
            (_, shown, _, _) => (issuer = shown!.Issuer).Length != 0
        );
        await stream.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "127.0.0.1",
                ClientCertificates = ClientCertificate is null ? null : [ClientCertificate],
            },
            Cancelled
        );
        return issuer;
    }

    /// <summary>Replaces the authorities that the nodes trust as each other's.</summary>
    public void Trust(string authorities) => FileOf("nodes.pem", authorities);

    /// <summary>What a node says that is wrong.</summary>
    public IReadOnlyList<ClusterCondition> ConditionsOf(string node) =>
        _servers[Names.ToList().IndexOf(node)].Broker.Options.Replication!.Conditions.Told;

    /// <summary>A channel to a node, which the client does not check.</summary>
    public GrpcChannel At(string node) => _channels[Names.ToList().IndexOf(node)];

    /// <summary>Starts a node; the last one completes the cluster.</summary>
    public async Task StartAsync(TestCertificate certificate)
    {
        string name = Names[_servers.Count];
        LightQServer server = await LightQServer.StartAsync(OptionsOf(name, certificate), cancellationToken: Cancelled);
        _servers.Add(server);
        var handler = new SocketsHttpHandler
        {
            SslOptions = new SslClientAuthenticationOptions
            {
                RemoteCertificateValidationCallback = static (_, shown, _, _) => shown is not null,
                ClientCertificates = ClientCertificate is null ? null : [ClientCertificate],
            },
        };
        _channels.Add(
            GrpcChannel.ForAddress(
                $"https://127.0.0.1:{server.ControlPort}",
                new GrpcChannelOptions { HttpHandler = handler, DisposeHttpClient = true }
            )
        );
        if (_servers.Count == Names.Count)
            await SpreadAsync();
    }

    /// <summary>The options of a node.</summary>
    public LightQServerOptions OptionsOf(string name, TestCertificate certificate)
    {
        (string file, string key) = certificate.Write(_directory.Path, name);
        return LightQServerOptions.InProcess with
        {
            DataDirectory = _directory.File(name),
            Tls = new TlsOptions
            {
                CertificateFile = file,
                KeyFile = key,
                ClientCaFile = ClientAuthorities is null ? null : FileOf("clients.pem", ClientAuthorities),
            },
            Cluster = new ClusterOptions { NodeCaFile = FileOf("nodes.pem", NodeAuthorities) },
            Broker = new BrokerOptions
            {
                Replication = new ReplicationOptions
                {
                    Engine = _engine.Connect(),
                    Cluster = "shop",
                    Node = name,
                    Members = ForwardingCluster.Members,
                },
            },
        };
    }

    public async ValueTask DisposeAsync()
    {
        foreach (GrpcChannel channel in _channels)
            channel.Dispose();
        foreach (LightQServer server in _servers)
            await server.DisposeAsync();
        _directory.Dispose();
    }

    private string FileOf(string name, string content)
    {
        File.WriteAllText(_directory.File(name), content);
        return _directory.File(name);
    }

    private async Task SpreadAsync()
    {
        LightQBroker first = _servers[0].Broker;
        await Eventually.TrueAsync(
            () => _servers.All(s => Names.All(n => s.Broker.Replicas.Members!.Find(n) is { IsLive: true })),
            ForwardingCluster.Patience,
            () => "The nodes do not hear of each other."
        );
        Topic topic = await Task.Run(
            () =>
                first.CreateTopic(
                    Topic,
                    new TopicSettings
                    {
                        Kind = TopicKind.Durable,
                        Replicas = 3,
                        Partitions = (uint)Names.Count,
                    }
                ),
            Cancelled
        );
        for (int i = 0; i < Names.Count; i++)
        {
            int partition = i;
            await Eventually.TrueAsync(
                () => _servers.Count(s => Leads(s, partition)) == 1,
                ForwardingCluster.Patience,
                () => $"Nobody leads partition {partition}"
            );
            if (!Leads(_servers[partition], partition))
                await first.Replicas.MoveAsync(topic, (uint)partition, Names[partition], Cancelled);
            await Eventually.TrueAsync(
                () =>
                    _servers.TrueForAll(s => Knows(s, partition) && Leads(s, partition) == (s == _servers[partition])),
                ForwardingCluster.Patience,
                () => $"{Names[partition]} does not lead partition {partition}"
            );
        }
    }

    private static bool Knows(LightQServer server, int partition) =>
        server.Broker.TryGetTopic(Topic, out Topic? topic)
        && server.Broker.Replicas.Members!.Of(new PartitionId(topic.Id, (uint)partition)) is { IsLed: true } now
        && now.Leader == Names[partition];

    private static bool Leads(LightQServer server, int partition) =>
        server.Broker.TryGetTopic(Topic, out Topic? topic) && topic.Partitions[partition].Refusal is null;
}

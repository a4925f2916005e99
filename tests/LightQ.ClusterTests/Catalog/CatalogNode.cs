using LightQ.Broker;
using LightQ.Broker.Catalog;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.ClusterTests.Log;

namespace LightQ.ClusterTests.Catalog;

/// <summary>A node's catalog and users, and no more of a broker, over an engine in memory.</summary>
internal sealed class CatalogNode : IDisposable
{
    /// <summary>How long a node tries to reach the engine.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private CatalogNode(MemoryEngine engine, StreamRecordLog log)
    {
        Engine = engine;
        Tables = log.Tables;
        Catalog = new TopicCatalog(log.Tables, log);
        Users = new UserStore(Catalog, TimeProvider.System, static () => new BrokerOptions(), new LimitRefusals());
    }

    public MemoryEngine Engine { get; }

    public CatalogTables Tables { get; }

    public TopicCatalog Catalog { get; }

    public UserStore Users { get; }

    /// <summary>What the node knows, in an order that does not depend on how it came to know it.</summary>
    public IReadOnlyList<string> Known
    {
        get
        {
            lock (Tables.Lock)
            {
                return
                [
                    .. Tables
                        .Live()
                        .Select(r => System.Text.Encoding.UTF8.GetString(r.Write()))
                        .Order(StringComparer.Ordinal),
                ];
            }
        }
    }

    /// <summary>Opens it; <paramref name="failed"/> is called when the catalog cannot be read.</summary>
    public static async Task<CatalogNode> OpenAsync(
        MemoryEngine shared,
        int recordsPerCopy = 1_000,
        bool follows = true,
        TimeProvider? time = null,
        Action? failed = null,
        TimeSpan? patience = null
    )
    {
        var engine = new MemoryEngine(shared) { Faults = shared.Faults, MaxEntryBytes = shared.MaxEntryBytes };
        StreamRecordLog log = await StreamRecordLog.OpenAsync(
            new ReplicationOptions
            {
                Engine = engine,
                Cluster = "shop",
                Node = "a",
                RecordsPerCopy = recordsPerCopy,
                CatalogPatience = patience ?? Patience,
            },
            isMember: false,
            time ?? TimeProvider.System,
            failure =>
            {
                if (failure is not null)
                    failed?.Invoke();
            }
        );
        var node = new CatalogNode(engine, log);
        if (follows)
            node.Catalog.Follow();
        return node;
    }

    public void CreateTopic(string name, uint replicas = 0) =>
        Catalog.Create(
            new CatalogRecord.TopicEntry(
                name,
                Guid.NewGuid(),
                DateTimeOffset.UnixEpoch,
                new TopicSettings { Kind = TopicKind.Durable, Replicas = replicas }.Complete()
            )
        );

    public Guid IdOf(string topic)
    {
        lock (Tables.Lock)
            return Tables.TryFindTopic(topic, out CatalogRecord.TopicEntry? found) ? found.Id : Guid.Empty;
    }

    public void Dispose() => Catalog.Dispose();
}

using System.Diagnostics;
using System.Globalization;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Cli.Clusters;
using LightQ.Cli.Output;
using LightQ.Replication.Nats;
using LightQ.Server;
using LightQ.Server.Diagnosis;
using Microsoft.Extensions.Logging.Abstractions;

namespace LightQ.Cli.Doctor;

/// <summary>The servers of the replicated log, as a broker with these settings finds them.</summary>
internal sealed class ClusterChecks(ClusterOptions cluster)
{
    private const string Page = "See docs/operate/cluster.md.";
    private const int LeastServers = 3,
        Appends = 50,
        WarmUp = 5,
        AppendBytes = 4096;

    /// <summary>An append that takes longer is near the second after which a broker gives a partition up.</summary>
    private static readonly TimeSpan Slow = TimeSpan.FromMilliseconds(200);

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    public async Task<IReadOnlyList<Finding>> RunAsync()
    {
        const string Check = "cluster's servers";
        using var late = new CancellationTokenSource(Patience);
        NatsEngineOptions options;
        try
        {
            options = EngineSettings.Of(cluster, NullLoggerFactory.Instance);
        }
        catch (ArgumentException e)
        {
            return
            [
                Finding.Failed(Check, Failure.OneLine(e.Message), $"Correct it: the broker does not start. {Page}"),
            ];
        }
        List<Finding> findings = [];
        IReadOnlyList<MonitoredServer> servers = await ServerMonitoring.AskAsync(options.Monitoring, late.Token);
        try
        {
            await using JetStreamEngine engine = await JetStreamEngine.ConnectAsync(
                options with
                {
                    AppendTimeout = TimeSpan.FromSeconds(5),
                },
                late.Token
            );
            findings.Add(Finding.Ok(Check, $"{engine.Description} answers"));
            findings.AddRange(servers.Select(Reached).OfType<Finding>());
            findings.Add(Version([engine.ServerVersion, .. servers.Select(s => s.Version).Where(v => v.Length != 0)]));
            findings.Add(Sync(servers));
            findings.Add(Payload(engine, servers));
            findings.AddRange(await AppendAsync(engine, servers, late.Token));
        }
        catch (Exception e) when (e is ReplicationException or OperationCanceledException)
        {
            findings.Add(
                Finding.Failed(
                    Check,
                    e is ReplicationException ? Failure.OneLine(e.Message) : "no answer in time",
                    "Do they run, with JetStream, are these their addresses and is this the login of their account? "
                        + Page
                )
            );
        }
        return findings;
    }

    /// <summary>What becomes of the oldest version that was found.</summary>
    internal static Finding Version(IReadOnlyList<string> versions)
    {
        const string Check = "cluster's version";
        string oldest = versions.Aggregate((a, b) => EngineVersion.Compare(a, b) <= 0 ? a : b);
        if (EngineVersion.Compare(oldest, EngineVersion.LeastSafe) < 0)
        {
            return Finding.Failed(
                Check,
                $"nats-server {oldest}: before {EngineVersion.LeastSafe} the crash of a server can lose what was "
                    + "acknowledged",
                $"Use {EngineVersion.Recommended} or later for anything that must be kept. {Page}"
            );
        }
        return EngineVersion.Compare(oldest, EngineVersion.Recommended) < 0
            ? Finding.Warning(
                Check,
                $"nats-server {oldest}: before {EngineVersion.Recommended} a change of the servers can lose messages",
                $"Use {EngineVersion.Recommended} or later. {Page}"
            )
            : Finding.Ok(Check, $"nats-server {oldest}");
    }

    /// <summary>Whether topics with replicas may be made.</summary>
    internal Finding Sync(IReadOnlyList<MonitoredServer> servers)
    {
        const string Check = "cluster's sync";
        if (SyncRule.FindUnsynced(servers) is not { } reason)
            return Finding.Ok(Check, "every server syncs before it acknowledges");
        const string Fix =
            "Set 'sync_interval: always' in the jetstream block of every nats-server (2.10 or later), and "
            + "Cluster:Monitoring to the monitoring ports of all of them. ";
        return cluster.RequireSync
            ? Finding.Failed(
                Check,
                $"not every server syncs before it acknowledges, or says so: {reason}",
                $"{Fix}Until then no topic with replicas can be made, unless Cluster:RequireSync is false. {Page}"
            )
            : Finding.Warning(
                Check,
                $"a power cut of all servers may lose up to 2 minutes of what was acknowledged: {reason}",
                Fix + Page
            );
    }

    private static Finding? Reached(MonitoredServer server) =>
        server.Failure is { } failure
            ? Finding.Failed(
                "cluster's servers",
                $"{server.Address.Authority}: {failure}",
                "Does the server run, and is this its monitoring port (http: 8222 in its settings)?"
            )
            : null;

    private static Finding Payload(JetStreamEngine engine, IReadOnlyList<MonitoredServer> servers)
    {
        const string Check = "cluster's max_payload";
        int wanted = new TopicSettings { Kind = TopicKind.Durable }
            .Complete()
            .MaxBatchBytes;
        int overhead = engine.MaxPayload - engine.MaxEntryBytes;
        long least = servers.Select(s => s.MaxPayload).Where(bytes => bytes != 0).Append(engine.MaxPayload).Min();
        return least - overhead < wanted
            ? Finding.Failed(
                Check,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{least} bytes: the largest batch of a topic, which by default may have {wanted}, does not fit"
                ),
                "Set max_payload: 8MB in the settings of every nats-server, or make topics with --max-message 1000000."
            )
            : Finding.Ok(Check, string.Create(CultureInfo.InvariantCulture, $"{least} bytes"));
    }

    private static async Task<IEnumerable<Finding>> AppendAsync(
        JetStreamEngine engine,
        IReadOnlyList<MonitoredServer> servers,
        CancellationToken cancellationToken
    )
    {
        const string Check = "cluster's size";
        const string Fix = "Topics with replicas need 3 servers with JetStream that know each other. " + Page;
        int size = servers.Select(server => server.ClusterSize).DefaultIfEmpty(0).Max();
        if (size is > 0 and < LeastServers)
        {
            return
            [
                Finding.Failed(Check, $"{size} of {LeastServers} servers", Fix),
                await MeasureAsync(engine, replicas: 1, cancellationToken),
            ];
        }
        try
        {
            Finding latency = await MeasureAsync(engine, LeastServers, cancellationToken);
            return [Finding.Ok(Check, size == 0 ? $"at least {LeastServers} servers" : $"{size} servers"), latency];
        }
        catch (ReplicationException e)
        {
            return
            [
                Finding.Failed(Check, $"no stream on {LeastServers} servers: {Failure.OneLine(e.Message)}", Fix),
                await MeasureAsync(engine, replicas: 1, cancellationToken),
            ];
        }
    }

    /// <summary>Appends to a stream of its own, one entry after the other, and deletes it again.</summary>
    private static async Task<Finding> MeasureAsync(
        JetStreamEngine engine,
        int replicas,
        CancellationToken cancellationToken
    )
    {
        string check =
            $"cluster's append: {AppendBytes / 1024} KiB on {Plural.Of(replicas, "server")}, {Appends} times";
        string name = $"LQ_doctor_{Guid.NewGuid():N}";
        try
        {
            IReplicatedStream stream = await engine.CreateStreamAsync(name, replicas, cancellationToken);
            byte[] payload = new byte[AppendBytes];
            List<TimeSpan> times = [];
            for (ulong last = 0; last < Appends + WarmUp; last++)
            {
                long began = Stopwatch.GetTimestamp();
                EntryAppend append = await stream.AppendAsync(EntryKind.Data, payload, last, cancellationToken);
                if (append.Outcome != AppendOutcome.Stored)
                    return Finding.Failed(check, $"not stored: {append.Reason}", Page);
                if (last >= WarmUp)
                    times.Add(Stopwatch.GetElapsedTime(began));
            }
            times.Sort();
            (TimeSpan median, TimeSpan late) = (times[Appends / 2], times[Appends * 99 / 100]);
            string found = string.Create(
                CultureInfo.InvariantCulture,
                $"median {median.TotalMilliseconds:0.0} ms, p99 {late.TotalMilliseconds:0.0} ms"
            );
            return late >= Slow
                ? Finding.Warning(
                    check,
                    found,
                    "A broker gives a partition up when an append takes 1 s: look at the servers' disks, their load "
                        + "and the network between them."
                )
                : Finding.Ok(check, found);
        }
        finally
        {
            await engine.DeleteStreamAsync(name, CancellationToken.None);
        }
    }
}
